import { type LoadBalancer, SpoutError } from '@spout/model'
import { certificatesNamed } from '@spout/plan'
import type { Claim } from './claims.ts'

/**
 * Claims the certificates that a load balancer names, so that none is deleted while the load balancer is written. The
 * check has found them all.
 * @throws SpoutError ReferenceNotFound for one that is just being deleted
 */
export function claimCertificates(claim: Claim, written: Pick<LoadBalancer, 'listeners' | 'pools'>): void {
  for (const { field, id } of certificatesNamed(written))
    if (!claim.use(`certificate/${id}`)) throw new SpoutError('ReferenceNotFound', { field, what: 'certificate', id })
}
