import { z } from 'zod'
import { type ListedAddresses, poolsOfAddresses } from '../address-pools.ts'
import type { Converted } from '../convert.ts'
import type { Manifest } from '../manifest.ts'
import { parsed } from '../parsed.ts'
import { type Note, noteOf } from '../source.ts'

const KEY = /^(cidr|range)-(.+)$/
/** With this address the cloud provider leaves the choice to a DHCP server. */
const DHCP = '0.0.0.0/32'

/** Whether it is the ConfigMap of kube-vip's cloud provider, whatever its name. */
export const hasPools = ({ kind, data }: Manifest): boolean =>
  kind === 'ConfigMap' && typeof data === 'object' && data !== null && Object.keys(data).some((key) => KEY.test(key))

/**
 * The pools of the cloud provider: one for all namespaces, and one for each namespace that has its own.
 * @throws BadManifests
 */
export function poolObjects(manifest: Manifest): { objects: readonly Converted[]; notes: readonly Note[] } {
  const data = parsed(manifest, 'data', z.record(z.string(), z.string()), manifest.data)
  const notes: Note[] = []
  const byScope = new Map<string, ListedAddresses[]>()
  for (const [key, text] of Object.entries(data)) {
    const [, , scope] = KEY.exec(key) ?? []
    if (scope === undefined) {
      notes.push(noteOf({ manifest }, `data.${key}`, 'no equivalent: left out'))
      continue
    }
    const texts = text.split(',').map((one) => one.trim())
    if (texts.includes(DHCP)) notes.push(noteOf({ manifest }, `data.${key}`, 'no equivalent for addresses from DHCP'))
    const own = texts.filter((one) => one !== '' && one !== DHCP)
    byScope.set(scope, [...(byScope.get(scope) ?? []), { manifest, field: `data.${key}`, texts: own }])
  }
  const objects = [...byScope].flatMap(([scope, listed]) => {
    const name = scope === 'global' ? 'kube-vip' : `kube-vip-${scope}`
    const own =
      scope === 'global'
        ? []
        : [
            noteOf(
              { manifest },
              `data.*-${scope}`,
              `is for namespace ${scope}: its Services name the pool (spout.dev/address-pool: ${name}), and spec.projects closes it to other projects`,
            ),
          ]
    return poolsOfAddresses(name, listed, own)
  })
  return { objects, notes }
}
