import { type BgpAdvertisementIntent, DEFAULT_GROUP_NAME, hasShards, type NodeGroup } from '@spout/model'
import { type AnnounceTerms, announceTerms } from '../announcers/registry.ts'

/**
 * Everything about its group that a load balancer's plan depends on, except the nodes. When the value changes, the
 * group's load balancers are planned again. New fields are compared without further code.
 */
export interface CarryingGroup {
  readonly id: string
  readonly name: string
  readonly announcing: GroupAnnouncing
  /** Whether it names the interface that its nodes announce on (`NodeGroup.fabric`). */
  readonly namesFabric: boolean
}

/** The terms of the group's announcements and, if it has shards, their number. */
export type GroupAnnouncing = AnnounceTerms | Sharded
export type Sharded = AnnounceTerms & { readonly shards: number }

/**
 * @param group null: there is no group with this id
 * @param advertisements all stored ones
 */
export const carryingGroup = (
  id: string,
  group: NodeGroup | null,
  advertisements: readonly BgpAdvertisementIntent[],
): CarryingGroup => ({
  id,
  name: group?.name ?? DEFAULT_GROUP_NAME,
  announcing: announcingOf(group, advertisements),
  namesFabric: group?.fabric !== undefined,
})

function announcingOf(group: NodeGroup | null, advertisements: readonly BgpAdvertisementIntent[]): GroupAnnouncing {
  const terms = announceTerms(group, advertisements)
  return group === null || !hasShards(group) ? terms : { ...terms, shards: group.vrrp.shards }
}
