/**
 * NodeState: the planner's output for one node, the intermediate representation of Spout.
 *
 * It is a set of small versioned entries, so that only what changed is sent: one entry per domain, one per load
 * balancer and one for the node's part in its group. Entries are plain data that we generate: ids, numbers, canonical
 * addresses. Tenant text appears only in fields of HTTP probes and routes, which the model restricts to printable
 * ASCII. The same input gives the same bytes (`entryHash`).
 */

import type { DomainEntry } from './domain-entry.ts'
import type { GroupEntry } from './group-entry.ts'
import type { LoadBalancerEntry } from './load-balancer-entry.ts'

export type {
  BfdProfile,
  BgpAdvertisement,
  BgpPeerSettings,
  BgpSettings,
} from '../announcers/bgp.ts'
export type { Announce } from '../announcers/registry.ts'
export type { VrrpPeers, VrrpSettings, VrrpShard } from '../announcers/vrrp.ts'
export * from './certificate.ts'
export * from './domain-entry.ts'
export * from './group-entry.ts'
export * from './load-balancer-entry.ts'
export * from './pool.ts'
export * from './route.ts'
export * from './service.ts'
export * from './slot-table.ts'
export * from './version.ts'

export type NodeStateEntry = GroupEntry | DomainEntry | LoadBalancerEntry

const MANY = 64

/** Whether changes of the entry are sent and journalled as edits. */
export const isLargeEntry = (entry: NodeStateEntry): boolean =>
  entry.kind === 'load-balancer' &&
  (entry.pools.some(({ members }) => members.length > MANY) ||
    entry.services.some(({ routes }) => routes !== undefined && routes.length > MANY))

/** Whether an entry has so many pools that what was made of each is kept for its next version. */
export const hasManyPools = ({ pools }: Pick<LoadBalancerEntry, 'pools'>): boolean => pools.length > MANY
