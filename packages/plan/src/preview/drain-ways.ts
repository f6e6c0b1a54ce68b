import { type DrainMove, isAnnouncedByEveryNode, type NodeGroup, type ShardStatus } from '@spout/model'
import { type GroupNode, hasSuccessor } from '../announcers/group-node.ts'
import { nextMaster } from '../announcers/vrrp/next-master.ts'
import type { GroupPlan } from '../group/plan-group.ts'
import type { Owner } from '../placement/place.ts'

/** The drain of a node as it is planned. */
export interface PlannedDrain {
  readonly nodeId: string
  readonly group: NodeGroup
  /** The nodes of the group, and their parts in it, once this one has begun to drain. */
  readonly nodes: readonly GroupNode[]
  readonly plan: Pick<GroupPlan, 'entries'>
  /** Who has the group's shards now. */
  readonly shards: readonly Pick<ShardStatus, 'number' | 'ownerNodeId'>[]
  /** By id of the load balancers that the planner gave to the node: who has them then. */
  readonly owners: ReadonlyMap<string, Pick<Owner, 'nodeId' | 'reason'>>
}

/** What becomes of an address of the node. */
export type Way = Pick<DrainMove, 'how' | 'shard' | 'to' | 'message'>

/** By number: the shards that the node has. */
export const shardWays = (drain: PlannedDrain): ReadonlyMap<number, Way> =>
  new Map(
    drain.shards
      .filter(({ ownerNodeId }) => ownerNodeId === drain.nodeId)
      .map(({ number }) => [number, shardWay(drain, number)]),
  )

function shardWay({ nodeId, nodes, plan }: PlannedDrain, shard: number): Way {
  const next = named(nodes, nextMaster(shard, nodeId, nodes, plan.entries))
  return next === null
    ? { how: 'stay', shard, to: null, message: `No other node can take shard ${shard}.` }
    : { how: 'shard', shard, to: next, message: `Node \`${next.name}\` comes next in shard ${shard}.` }
}

/** Of addresses that follow no shard. */
export function wayWithoutShard(drain: PlannedDrain, loadBalancerId: string): Way {
  const { nodeId, group, nodes, owners } = drain
  if (isAnnouncedByEveryNode(group)) return routersWay(drain)
  const owner = owners.get(loadBalancerId)
  const to = owner?.nodeId === nodeId ? null : named(nodes, owner?.nodeId ?? null)
  return to === null
    ? { how: 'stay', shard: null, to, message: owner?.reason.message ?? 'It is not planned yet.' }
    : { how: 'owner', shard: null, to, message: `The planner gives it to node \`${to.name}\`.` }
}

function routersWay({ nodeId, nodes }: PlannedDrain): Way {
  const node = nodes.find(({ id }) => id === nodeId)
  return node !== undefined && hasSuccessor(node, nodes)
    ? { ...NO_ONE, how: 'routers', message: 'The others announce it already. Routers are asked to prefer them.' }
    : { ...NO_ONE, how: 'stay', message: 'No other node announces it.' }
}

const NO_ONE = { shard: null, to: null }

function named(nodes: readonly GroupNode[], wanted: string | null): DrainMove['to'] {
  const node = nodes.find(({ id }) => id === wanted)
  return node === undefined ? null : { id: node.id, name: node.name }
}
