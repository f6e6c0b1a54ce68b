import { type Placement, sameJson } from '@spout/model'
import type { Reason } from '../reason.ts'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'

type Place = Pick<Placement, 'ownerNodeId' | 'shard'>
/** No node carries it. */
export const NOWHERE: Place = { ownerNodeId: null, shard: null }

/** The placement to store: `previous` itself if nothing differs. */
export function planPlacement(
  input: LoadBalancerPlanInput,
  { ownerNodeId, shard }: Place,
  reason: Reason,
  pools: Placement['pools'],
): { readonly placement: Placement; readonly reason: Reason } {
  const { loadBalancer, previous, now } = input
  const decided = { networkId: loadBalancer.networkId, ownerNodeId, shard, reason, pools }
  if (previous !== null) {
    const { networkId, ownerNodeId: owner, shard: part, reason: why, pools: before } = previous
    const known = { networkId, ownerNodeId: owner, shard: part, reason: why, pools: before }
    if (sameJson(known, decided)) return { placement: previous, reason }
  }
  const meta = { id: loadBalancer.id, name: '', description: '' }
  const times = { createdAt: previous?.createdAt ?? now, updatedAt: previous === null ? null : now }
  return { placement: { ...meta, ...times, ...decided }, reason }
}
