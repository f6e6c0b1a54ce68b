import { type BgpAdvertisementIntent, DEFAULT_GROUP_NAME, type GroupBgp, type NodeGroup } from '@spout/model'
import { type AdvertisementsByPool, advertisementsByPool } from '../announcers/bgp/advertisements.ts'

/**
 * Everything that a load balancer's plan reads of its group, except the nodes. A changed value makes the load balancers
 * be planned again. A field added here is compared automatically.
 */
export interface CarryingGroup {
  readonly id: string
  readonly name: string
  readonly announcing: GroupAnnouncing
}

/** How the group announces addresses. */
export type GroupAnnouncing =
  /** One node announces. The planner chooses it. */
  | { readonly via: 'l2' }
  /** The nodes elect a master per shard. */
  | { readonly via: 'vrrp'; readonly shards: number }
  /**
   * Every node announces the VIPs from address pools, except those that need a symmetric path (`needsSymmetricPath`).
   * Those and the VIPs inside tenant networks are announced by their shard's master.
   */
  | {
      readonly via: 'bgp'
      readonly shards: number
      readonly policy: GroupBgp['policy']
      readonly advertisements: AdvertisementsByPool
    }

/**
 * @param group null if there is no group with that id
 * @param advertisements all stored ones
 */
export const carryingGroup = (
  id: string,
  group: NodeGroup | null,
  advertisements: readonly BgpAdvertisementIntent[],
): CarryingGroup => ({
  id,
  name: group?.name ?? DEFAULT_GROUP_NAME,
  announcing: group === null ? { via: 'l2' } : announcingOf(group, advertisements),
})

function announcingOf(
  { announcer, vrrp: { shards }, bgp }: NodeGroup,
  advertisements: readonly BgpAdvertisementIntent[],
): GroupAnnouncing {
  if (announcer === 'l2') return { via: 'l2' }
  if (announcer === 'vrrp' || bgp === null) return { via: 'vrrp', shards }
  return { via: 'bgp', shards, policy: bgp.policy, advertisements: advertisementsByPool(advertisements) }
}
