import type { Reason } from '../reason.ts'
import type { PlannedNode } from './place.ts'

export interface ShardRequest {
  readonly groupName: string
  readonly nodes: readonly Pick<PlannedNode, 'connection' | 'features'>[]
  /** How many shards the group has. */
  readonly shards: number
  /** The shard of the network's load balancers; null if it has none yet. */
  readonly networkShard: number | null
  /** The shard of this load balancer's previous placement. */
  readonly previousShard: number | null
  /** The shard with the least load. */
  readonly freestShard: number
  readonly needs: readonly string[]
  /** The previous refusal, which stands until every connected node has reported its features. Null: there was none. */
  readonly previousRefusal: Reason | null
}

export interface PlacedShard {
  readonly number: number
  readonly reason: Reason
  /** Whether no node has the needed features. Then no node gets an entry. */
  readonly refused: boolean
}

/**
 * Chooses the shard of a load balancer: that of its network, unless the group has fewer shards now. The nodes elect the
 * owner of the shard, so the choice does not depend on which nodes are alive.
 */
export function placeShard(request: ShardRequest): PlacedShard {
  const { groupName, nodes, needs } = request
  const exists = (number: number | null): number | null => (number !== null && number <= request.shards ? number : null)
  const number = exists(request.networkShard) ?? exists(request.previousShard) ?? request.freestShard
  if (nodes.length === 0)
    return {
      number,
      refused: false,
      reason: { code: 'NoNodeAvailable', message: `There is no node in group \`${groupName}\`.` },
    }
  const reporting = nodes.filter(({ features }) => features.length > 0)
  const able = reporting.some(({ features }) => needs.every((need) => features.includes(need)))
  // As `placeOwner`: while nodes report one after the other, what is missing in all of them is not known yet.
  const allTold = nodes.every(({ connection, features }) => connection !== 'connected' || features.length > 0)
  if (!able && (!allTold || reporting.length === 0) && request.previousRefusal !== null)
    return { number, refused: true, reason: request.previousRefusal }
  if (reporting.length > 0 && !able) {
    const missing = needs.filter((need) => !reporting.some(({ features }) => features.includes(need)))
    const what = missing.length > 0 ? missing.join(', ') : `all of ${needs.join(', ')}`
    return {
      number,
      refused: true,
      reason: { code: 'FeatureUnavailable', message: `No node of group \`${groupName}\` offers ${what}.` },
    }
  }
  return {
    number,
    refused: false,
    reason: { code: 'Placed', message: `Shard ${number} of group \`${groupName}\` announces it.` },
  }
}
