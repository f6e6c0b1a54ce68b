import type { CarryingGroup, GroupAnnouncing, Sharded } from '../group/carrying-group.ts'
import type { PlacementIndex } from './placement-index.ts'

/** How the group announces addresses and, if it has shards, which shard the load balancer may get. */
export type Announcing = GroupAnnouncing | (Sharded & Sharding)

export interface Sharding {
  readonly groupId: string
  /** `PlacementIndex.shardOf(networkId, groupId)`: all VIPs and gateways of a network are in one shard. */
  readonly networkShard: number | null
  /** `PlacementIndex.carriedSince(networkId, groupId)`. */
  readonly networkSince: string | null
  /** `PlacementIndex.freestShard(groupId, shards)`. */
  readonly freestShard: number
}

/** @param networkId the load balancer's; null when it has none yet */
export function announcingIn(
  { id, announcing }: CarryingGroup,
  index: Pick<PlacementIndex, 'shardOf' | 'carriedSince' | 'freestShard'>,
  networkId: string | null,
): Announcing {
  if (!('shards' in announcing)) return announcing
  return {
    ...announcing,
    groupId: id,
    networkShard: networkId === null ? null : index.shardOf(networkId, id),
    networkSince: networkId === null ? null : index.carriedSince(networkId, id),
    freestShard: index.freestShard(id, announcing.shards),
  }
}
