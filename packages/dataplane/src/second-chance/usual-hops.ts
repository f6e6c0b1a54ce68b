import { MOST_HOPS, type VrrpPeers } from '@spout/model/node-state'
import type { Hops } from './tables.ts'

/**
 * Where a node forwards packets of unknown flows while no move is planned: to the other nodes that elect owners with it,
 * along one order that all of them know, so forwarding ends. An address may have come from any of them.
 */
export function usualHops(peers: Pick<VrrpPeers, 'source' | 'peers'> | null): Hops<string | null> {
  if (peers === null) return { first: null, next: null }
  const order = [peers.source, ...peers.peers].sort().slice(0, MOST_HOPS)
  const place = order.indexOf(peers.source)
  return {
    first: order.find((address) => address !== peers.source) ?? null,
    next: place < 0 ? null : (order[place + 1] ?? null),
  }
}
