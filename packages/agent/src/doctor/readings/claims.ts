import { rootNetns } from '@spout/dataplane'
import { runIn } from '@spout/sys'
import type { NodePlace } from '../place.ts'

/** Addresses that this node has on the fabric, and who else answers for them. */
export interface ClaimsReading {
  readonly fabric: string
  /** The node's own addresses, then VIPs. */
  readonly addresses: readonly { readonly address: string; readonly isVip: boolean; readonly mac: string | null }[]
  /** More were not asked for. */
  readonly left: number
}

/** Long enough for a switch that forwards multicast slowly. */
const PROBE_MS = 500
/** Asked at once. */
const MOST = 256

/** Asks the segment for each address (RFC 5227 section 2.1.1, RFC 4862 section 5.4); this changes no neighbour's table. */
export async function readClaims({ config, helper }: NodePlace): Promise<ClaimsReading> {
  const dev = config.fabricInterface
  const netns = rootNetns(config)
  const namespace = config.rootNamespace ?? null
  const bound = (await helper.addrList({ ...(netns && { netns }), dev }))
    .filter(({ address }) => !/^fe80:/i.test(address))
    .map(({ address, prefix }) => ({ address, isVip: prefix === (address.includes(':') ? 128 : 32) }))
  const shown = await runIn(namespace, ['ip', '-json', '-6', 'neighbour', 'show', 'proxy', 'dev', dev])
  const proxied = (JSON.parse(shown || '[]') as readonly { readonly dst: string }[]).map(({ dst }) => ({
    ...{ address: dst, isVip: true },
  }))
  const all = [...bound, ...proxied].sort((a, b) => Number(a.isVip) - Number(b.isVip))
  const asked = all.slice(0, MOST).map(async (one) => {
    const result = await helper.arpProbe({ ...(netns && { netns }), dev, address: one.address, timeoutMs: PROBE_MS })
    return { ...one, mac: result.answered ? result.mac : null }
  })
  return { fabric: dev, addresses: await Promise.all(asked), left: Math.max(0, all.length - MOST) }
}
