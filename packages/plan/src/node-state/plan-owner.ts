import type { Network } from '@spout/model'
import { type Owner, placeOwner } from '../placement/place.ts'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { neededFeatures } from './needed-features.ts'

/** Everything that the choice of the node that announces a load balancer depends on. */
export type OwnerInput = Pick<
  LoadBalancerPlanInput,
  'loadBalancer' | 'group' | 'namesFabric' | 'previous' | 'gatewayOwnerIds' | 'dedicatedProxy' | 'requestSizes'
>

/** Chooses the node that announces a load balancer in a group without shards. */
export function planOwner(input: OwnerInput, network: Network): Owner {
  const { loadBalancer, group, previous } = input
  const shared = network.returnPath === 'gateway' ? input.gatewayOwnerIds : []
  return placeOwner({
    groupName: group.name,
    nodes: group.nodes,
    previousOwnerIds: [...shared, ...(previous?.ownerNodeId ? [previous.ownerNodeId] : [])],
    needs: neededFeatures(loadBalancer, network.returnPath, input),
    leftNodeId: loadBalancer.leftNodeId,
    previous,
  })
}
