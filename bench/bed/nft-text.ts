import type { DomainEntry, LoadBalancerEntry } from '@spout/model/node-state'
import { unpack } from '../../packages/dataplane/src/drivers/nftables/registers.ts'
import { render } from '../../packages/dataplane/src/drivers/nftables/render.ts'
import {
  recordBytes,
  SETS,
  type SetName,
  type SetShape,
  TRANSLATING_SETS,
} from '../../packages/dataplane/src/drivers/nftables/sets.ts'
import { renderSkeleton } from '../../packages/dataplane/src/drivers/nftables/skeleton.ts'
import type { NodeBed } from './node-bed.ts'

/**
 * The elements that an agent writes by netlink for a node's entries, as text for `nft -f`: same table, same elements.
 */
export function nftText(
  { controlPlane }: NodeBed,
  nodeId: string,
): { readonly text: string; readonly elements: number } {
  const entries = [...controlPlane.nodeStates.entries(nodeId)]
  const domains = new Map<number, DomainEntry>()
  for (const { entry } of entries) if (entry.kind === 'domain') domains.set(entry.number, entry)
  const elements = new Map<SetName, string[]>()
  for (const { key, hash, entry } of entries)
    if (entry.kind === 'load-balancer') collect(elements, key, hash, entry, domains.get(entry.domain))
  for (const set of TRANSLATING_SETS) {
    const { keysOf }: SetShape = SETS[set]
    const same = keysOf === undefined ? undefined : elements.get(keysOf as SetName)
    if (same !== undefined) elements.set(set, same)
  }
  const commands = Array.from(elements, ([set, list]) => `add element inet spout ${set} { ${list.join(', ')} }`)
  const count = [...elements.values()].reduce((sum, list) => sum + list.length, 0)
  return { text: `${renderSkeleton().text}${commands.join('\n')}\n`, elements: count }
}

function collect(
  elements: Map<SetName, string[]>,
  key: string,
  hash: string,
  entry: LoadBalancerEntry,
  domain: DomainEntry | undefined,
): void {
  if (domain === undefined) throw new Error(`${key} lives in no domain`)
  const { records } = render({ key, hash, domain, entry, down: new Set() })
  for (const [name, bytes] of records.entries()) {
    const list = elements.get(name) ?? []
    elements.set(name, list)
    const size = recordBytes(SETS[name])
    for (let at = 0; at < bytes.length; at += size) list.push(element(SETS[name], bytes.subarray(at, at + size)))
  }
}

function element(shape: SetShape, record: Buffer): string {
  if (shape.interval || shape.countOver) throw new Error('intervals and limits are not part of these benchmarks')
  const [keyType = '', dataType] = shape.type.split(' : ')
  const key = unpack(keyType, record).join(' . ')
  return dataType === undefined ? key : `${key} : ${unpack(dataType, record.subarray(shape.keyBytes)).join(' . ')}`
}
