import { type LoadBalancer, type NodeGroup, SpoutError } from '@spout/model'
import { balancedNodes, planShardFailover, rebalanceSteps, withMove } from '@spout/plan'
import { noopNodeOf } from '../snapshots/amphorae.ts'
import { isNoop } from '../terms/facts.ts'
import { unsupportedAction } from '../wire/fault.ts'
import type { Call } from './route.ts'

/**
 * Moves a load balancer off the node that serves it, although that node is alive. Where nodes elect a master, the whole
 * shard moves, with all load balancers in it. Where the planner chooses the node, the load balancers with the same
 * members' gateway move, too.
 * @param only moves it only if this node serves it; null: whichever node serves it
 * @throws OctaviaFault 501 where every node announces it; SpoutError Unavailable if no other node can serve it
 */
export async function failOver(call: Call, lb: LoadBalancer, only: string | null): Promise<void> {
  const { admission, status, view } = call.context
  if (isNoop(lb)) {
    await admission.changeLoadBalancer(lb.id, (current) => ({ leftNodeId: noopNodeOf(current) }))
    return
  }
  const { nodes, ownerNodeId } = status.loadBalancer(lb.id)
  if (ownerNodeId === null && nodes.some(({ announced }) => announced.length > 0))
    throw unsupportedAction('failover: every node of its group announces it, and routers leave one that fails')
  // A node that does not serve it has nothing to give up.
  if (ownerNodeId === null || (only !== null && only !== ownerNodeId)) return
  const group = view.get('nodeGroup', view.get('node', ownerNodeId)?.value.nodeGroupId ?? '')?.value
  if (group === undefined) return
  const shard = view.get('placement', lb.id)?.value.shard?.number ?? null
  if (shard === null) requireAnother(call, group, ownerNodeId)
  else await moveShard(call, group, shard)
  for (const { id } of shard === null ? withGateway(call, lb, ownerNodeId) : [lb])
    await admission.changeLoadBalancer(id, () => ({ leftNodeId: ownerNodeId }))
}

async function moveShard(call: Call, group: NodeGroup, number: number): Promise<void> {
  const { ownership, nodeGroups, clock } = call.context
  const shards = ownership.shards(group.id)
  const shard = shards.find((one) => one.number === number)
  const nodes = balancedNodes(group, call.context)
  const move = shard === undefined ? null : planShardFailover(shard, shards, nodes)
  if (move === null) throw noOther(group)
  const nowMs = clock.now().getTime()
  await nodeGroups.rebalanceNodeGroup(group.id, ({ rebalance }) =>
    withMove(move, rebalance === undefined ? [] : rebalanceSteps(rebalance, shards, nodes, nowMs)),
  )
}

/** The planner chooses the node later. This check reports at once when there is none. */
function requireAnother(call: Call, group: NodeGroup, ownerNodeId: string): void {
  const may = balancedNodes(group, call.context).some(
    ({ id, connection, scheduling }) => id !== ownerNodeId && connection === 'connected' && scheduling === 'enabled',
  )
  if (!may) throw noOther(group)
}

const noOther = ({ name }: NodeGroup): SpoutError =>
  new SpoutError('Unavailable', {
    what: 'Another node',
    reason: `no other node of group \`${name}\` can take it now`,
  })

/** With return path `gateway`, one node serves all load balancers of the network. */
function withGateway({ context: { view } }: Call, lb: LoadBalancer, ownerNodeId: string): readonly LoadBalancer[] {
  const network = view.get('network', lb.networkId ?? '')?.value
  if (network?.returnPath !== 'gateway') return [lb]
  return view
    .list('loadBalancer', { projectId: lb.projectId })
    .filter(
      ({ id, networkId }) => networkId === network.id && view.get('placement', id)?.value.ownerNodeId === ownerNodeId,
    )
}
