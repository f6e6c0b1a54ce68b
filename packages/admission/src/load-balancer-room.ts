import { type LoadBalancer, MOST_LOAD_BALANCER_BYTES, SpoutError } from '@spout/model'
import type { Claim } from './claims.ts'
import type { AdmissionContext } from './context.ts'

/**
 * Claims what a load balancer will count for, in objects and in bytes.
 * @param current the one that it is made of; null for a new one
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
