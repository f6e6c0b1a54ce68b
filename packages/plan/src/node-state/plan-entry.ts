import {
  type LoadBalancer,
  type LoadBalancerEntry,
  loadBalancerKey,
  NODE_STATE_VERSION,
  type NodePool,
} from '@spout/model'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { type ListenerSurroundings, planService } from './plan-service.ts'

/**
 * The entry of a load balancer, in which no node announces yet.
 * @param domain the number of its network
 */
export function planEntry(
  loadBalancer: LoadBalancer,
  domain: number,
  planned: readonly NodePool[],
  around: ListenerSurroundings & Pick<LoadBalancerPlanInput, 'dedicatedProxy' | 'requestSizes'>,
): LoadBalancerEntry {
  const disabled = new Set(loadBalancer.pools.flatMap((pool) => (pool.enabled ? [] : [pool.id])))
  const pools = loadBalancer.enabled ? planned.filter((pool) => !disabled.has(pool.id)) : []
  const numbers = new Map(pools.map((pool) => [pool.id, pool.number]))
  return {
    kind: 'load-balancer',
    version: NODE_STATE_VERSION,
    key: loadBalancerKey(loadBalancer.id),
    id: loadBalancer.id,
    generation: loadBalancer.generation,
    domain,
    vips: loadBalancer.vips.map((vip) => ({ address: vip.address, scope: vip.scope, announce: null })),
    services: loadBalancer.enabled
      ? loadBalancer.listeners
          .filter((listener) => listener.enabled)
          .flatMap((listener) => planService(listener, loadBalancer.projectId, numbers, around))
      : [],
    pools,
    ...(around.dedicatedProxy === undefined ? {} : { dedicatedProxy: around.dedicatedProxy }),
    ...(around.requestSizes === undefined ? {} : { requestSizes: around.requestSizes }),
  }
}
