import type { ViewOf } from '@spout/admission/contract'
import { type Owner, PlacementIndex, planOwner } from '@spout/plan'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import { gatewayOwners, type OwnerInputOptions, ownerInput } from './owner-input.ts'
import { PLAN_WORKERS } from './plan-queue.ts'
import { WorkerTurns } from './worker-turns.ts'

export interface DrainedOwnersOptions extends OwnerInputOptions {
  readonly view: ViewOf<'loadBalancer' | 'network'>
  readonly cluster: OwnerInputOptions['cluster'] & Pick<ClusterIndex, 'loadBalancersOfNetwork'>
  readonly placements: Pick<PlacementLog, 'index'>
}

/**
 * By id: who would own these load balancers once a node drains. They are placed one after the other, as they would be
 * planned, on a copy of the placements. Nothing is stored.
 * @param ids in the order in which they would be queued
 */
export function drainedOwners(
  options: DrainedOwnersOptions,
  nodeId: string,
  ids: Iterable<string>,
): ReadonlyMap<string, Owner> {
  const { view, cluster, carryingGroups } = options
  const index = placementsNow(options)
  const turns = new WorkerTurns(PLAN_WORKERS)
  const queue = (id: string): void => turns.add(id, view.get('loadBalancer', id)?.value.projectId)
  for (const id of ids) queue(id)
  const owners = new Map<string, Owner>()
  for (let id = turns.take(); id !== null; id = turns.take()) {
    const loadBalancer = view.get('loadBalancer', id)?.value
    const network = view.get('network', loadBalancer?.networkId ?? '')?.value
    const previous = index.get(id)
    if (loadBalancer === undefined || network === undefined || previous === null) continue
    // Another group's nodes may elect who announces it.
    if ('shards' in carryingGroups.of(cluster.groupIdOf(loadBalancer)).announcing) continue
    const [gatewayBefore] = gatewayOwners(network, index)
    const owner = planOwner(ownerInput(options, loadBalancer, network, index, nodeId), network)
    owners.set(id, owner)
    index.put({ ...previous, ownerNodeId: owner.nodeId, reason: owner.reason })
    // The network's gateway moves: its other load balancers follow.
    const [gateway] = gatewayOwners(network, index)
    if (gateway !== gatewayBefore) for (const other of cluster.loadBalancersOfNetwork(network.id)) queue(other)
  }
  return owners
}

/** A copy of the placements, without their pools. */
function placementsNow({ view, placements }: DrainedOwnersOptions): PlacementIndex {
  const index = new PlacementIndex()
  for (const { id } of view.list('loadBalancer')) {
    const placement = placements.index.get(id)
    if (placement !== null) index.put({ ...placement, pools: [] })
  }
  return index
}
