import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'

export interface UnsettledOptions {
  readonly cluster: Pick<ClusterIndex, 'loadBalancersOfGroup' | 'nodesOf'>
  readonly placements: Pick<PlacementLog, 'unsettled' | 'ownedBy'>
  readonly liveness: Pick<NodeLiveness, 'of'>
}

/**
 * Ids of the group's load balancers that are not settled, or whose owner is lost or draining, in the order in which they
 * are planned.
 * @param drainedId a node that is taken to drain, too
 */
export function* unsettledOf(
  { cluster, placements, liveness }: UnsettledOptions,
  groupId: string,
  drainedId: string | null = null,
): Iterable<string> {
  const group = cluster.loadBalancersOfGroup(groupId)
  for (const id of placements.unsettled) if (group.has(id)) yield id
  for (const { id, scheduling } of cluster.nodesOf(groupId))
    if (scheduling === 'draining' || id === drainedId || liveness.of(id) === 'lost') yield* placements.ownedBy(id)
}
