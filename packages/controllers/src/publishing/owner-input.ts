import type { LoadBalancer, Network, StatusReader } from '@spout/model'
import type { OwnerInput, PlacementIndex, PlannedNode } from '@spout/plan'
import type { CarryingGroups } from '../indexes/carrying-groups.ts'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import { connectionOf } from './planned-connection.ts'

export interface OwnerInputOptions {
  readonly cluster: Pick<ClusterIndex, 'classOf' | 'groupIdOf' | 'nodesOf'>
  readonly carryingGroups: Pick<CarryingGroups, 'of'>
  readonly liveness: NodeLiveness
  readonly status: Pick<StatusReader, 'features'>
}

/**
 * Everything that the choice of a load balancer's owner depends on.
 * @param drainedId the node that is taken to drain. Null: none but those that do
 */
export function ownerInput(
  options: OwnerInputOptions,
  loadBalancer: LoadBalancer,
  network: Network | null,
  index: PlacementIndex,
  drainedId: string | null = null,
): OwnerInput {
  const { cluster, carryingGroups } = options
  const group = carryingGroups.of(cluster.groupIdOf(loadBalancer))
  const ofClass = cluster.classOf(loadBalancer)
  return {
    loadBalancer,
    group: { name: group.name, nodes: plannedNodes(options, group.id, index, drainedId) },
    namesFabric: group.namesFabric,
    previous: index.get(loadBalancer.id),
    gatewayOwnerIds: gatewayOwners(network, index),
    dedicatedProxy: ofClass?.dedicatedProxy,
    requestSizes: ofClass?.requestSizes,
  }
}

/** Empty unless the network's gateway is on one node. With other return paths every node may own load balancers. */
export const gatewayOwners = (network: Network | null, index: PlacementIndex): readonly string[] =>
  network?.returnPath === 'gateway' ? index.gatewayOwners(network.id) : []

const plannedNodes = (
  { cluster, liveness, status }: OwnerInputOptions,
  groupId: string,
  index: PlacementIndex,
  drainedId: string | null,
): readonly PlannedNode[] =>
  cluster.nodesOf(groupId).map((node) => ({
    id: node.id,
    name: node.name,
    scheduling: node.id === drainedId ? 'draining' : node.scheduling,
    connection: connectionOf(node, liveness.of(node.id)),
    features: status.features(node.id),
    loadBalancers: index.ownedBy(node.id),
  }))
