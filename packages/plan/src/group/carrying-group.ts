import { type BgpAdvertisementIntent, DEFAULT_GROUP_NAME, hasShards, type NodeGroup } from '@spout/model'
import { type AnnounceTerms, announceTerms } from '../announcers/registry.ts'

/**
 * Everything that a load balancer's plan reads of its group, except the nodes. A changed value makes the load balancers
 * be planned again. A field added here is compared automatically.
 */
export interface CarryingGroup {
  readonly id: string
  readonly name: string
  readonly announcing: GroupAnnouncing
}

/** The terms of announcements and, where the group's nodes elect, the number of shards. */
export type GroupAnnouncing = AnnounceTerms | Sharded
export type Sharded = AnnounceTerms & { readonly shards: number }

/**
 * @param group null if there is no group with that id
 * @param advertisements all stored ones
 */
export const carryingGroup = (
  id: string,
  group: NodeGroup | null,
  advertisements: readonly BgpAdvertisementIntent[],
): CarryingGroup => ({ id, name: group?.name ?? DEFAULT_GROUP_NAME, announcing: announcingOf(group, advertisements) })

function announcingOf(group: NodeGroup | null, advertisements: readonly BgpAdvertisementIntent[]): GroupAnnouncing {
  const terms = announceTerms(group, advertisements)
  return group === null || !hasShards(group) ? terms : { ...terms, shards: group.vrrp.shards }
}
