import { type BgpAdvertisementIntent, DEFAULT_GROUP_NAME, type GroupBgp, type NodeGroup } from '@spout/model'
import { type AdvertisementsByPool, advertisementsByPool } from './advertisements.ts'

/**
 * Everything that plans of load balancers read of the group that carries them, beside its nodes. Whoever plans takes a
 * group as this value, and plans again when the value differs: a field that is added here is compared without further work.
 */
export interface CarryingGroup {
  readonly id: string
  readonly name: string
  readonly announcing: GroupAnnouncing
}

/** How the group makes addresses known. */
export type GroupAnnouncing =
  /** One node announces: the planner chooses it. */
  | { readonly via: 'l2' }
  /** The nodes settle it by shard, among themselves. */
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
 * @param group null where no group of that id is stored
 * @param advertisements all that are stored
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
