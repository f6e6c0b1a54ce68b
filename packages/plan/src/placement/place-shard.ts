import type { Reason } from '../reason.ts'
import type { PlannedNode } from './place.ts'

export interface ShardWish {
  readonly groupName: string
  readonly nodes: readonly Pick<PlannedNode, 'features'>[]
  /** How many the group has. */
  readonly shards: number
  /** The one that the network's load balancers are in; null when there is none yet. */
  readonly networkShard: number | null
  /** The one this load balancer was in before. */
  readonly previousShard: number | null
  /** The one with the least in it. */
  readonly freestShard: number
  readonly needs: readonly string[]
  /** Why it was refused before; null when it was not. Holds until a node says what it can do. */
  readonly previousRefusal: Reason | null
}

export interface PlacedShard {
  readonly number: number
  readonly reason: Reason
  /** True when no node can do what is wanted: no node gets an entry then. */
  readonly refused: boolean
}

/**
 * Chooses the shard of a load balancer: that of its network, for ever, unless the group has fewer shards now. Which node
 * owns the shard is the nodes' own affair: nothing here depends on who is there or silent.
 */
export function placeShard(wish: ShardWish): PlacedShard {
  const { groupName, nodes, needs } = wish
  const exists = (number: number | null): number | null => (number !== null && number <= wish.shards ? number : null)
  const number = exists(wish.networkShard) ?? exists(wish.previousShard) ?? wish.freestShard
  if (nodes.length === 0)
    return {
      number,
      refused: false,
      reason: { code: 'NoNodeAvailable', message: `There is no node in group \`${groupName}\`.` },
    }
  const told = nodes.filter(({ features }) => features.length > 0)
  if (told.length === 0 && wish.previousRefusal !== null) return { number, refused: true, reason: wish.previousRefusal }
  const able = told.some(({ features }) => needs.every((need) => features.includes(need)))
  if (told.length > 0 && !able) {
    const missing = needs.filter((need) => !told.some(({ features }) => features.includes(need)))
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
