import type { DomainEntry, DomainHosts } from '@spout/model/node-state'
import type { Ip } from '@spout/net'
import { RouteIndex } from '@spout/plan/route-index'

/** Where the members of a network of return path `node` are. */
export interface MemberPlaces {
  /** The number of the node that hosts an address; null: none that this node reaches. */
  hostOf(ip: Ip): number | null
  readonly own: number
  readonly peers: DomainHosts['peers']
}

const KNOWN = new WeakMap<DomainHosts, MemberPlaces>()

/** Null with other return paths: every node reaches every member. */
export function memberPlaces({ returnPath, hosts }: Pick<DomainEntry, 'returnPath' | 'hosts'>): MemberPlaces | null {
  if (returnPath !== 'node') return null
  if (hosts === undefined) return NOWHERE
  const known = KNOWN.get(hosts)
  if (known !== undefined) return known
  const reached = new Set([hosts.own, ...hosts.peers.map(({ number }) => number)])
  const index = new RouteIndex(hosts.prefixes)
  const places: MemberPlaces = {
    hostOf: (ip) => {
      const host = index.find(ip)?.host
      return host !== undefined && reached.has(host) ? host : null
    },
    own: hosts.own,
    peers: hosts.peers,
  }
  KNOWN.set(hosts, places)
  return places
}

const NOWHERE: MemberPlaces = { hostOf: () => null, own: 0, peers: [] }
