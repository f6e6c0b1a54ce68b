import { type LoadBalancer, MOST_LOAD_BALANCER_BYTES, SpoutError } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import type { AdmissionContext } from '../claims/context.ts'

/**
 * Claims the quota of a load balancer, in objects and bytes.
 * @param current the previous version; null for a new one
 * @throws SpoutError OverQuota; ObjectTooLarge for one that grows and is too large by itself
 */
export function claimRoom(
  { index }: AdmissionContext,
  claim: Claim,
  current: LoadBalancer | null,
  next: LoadBalancer,
): void {
  const usage = index.usageOf(next, current)
  const then = current === null ? 0 : index.usageOf(current, null).bytes
  if (usage.bytes > MOST_LOAD_BALANCER_BYTES && usage.bytes > then)
    throw new SpoutError('ObjectTooLarge', {
      ...{ what: 'Load balancer', id: next.id, bytes: usage.bytes, limitBytes: MOST_LOAD_BALANCER_BYTES },
    })
  claim.quota(next.projectId, [{ key: `loadBalancer/${next.id}`, usage }])
}
