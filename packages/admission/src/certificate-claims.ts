import { type LoadBalancer, SpoutError } from '@spout/model'
import type { Claim } from './claims.ts'

/**
 * Claims the certificates of a load balancer that is written, which the check found, against their deletion meanwhile.
 * @throws SpoutError ReferenceNotFound for one that is just being deleted
 */
export function claimCertificates(claim: Claim, { listeners }: Pick<LoadBalancer, 'listeners'>): void {
  for (const [index, { tls }] of listeners.entries())
    for (const [place, id] of (tls?.certificateIds ?? []).entries())
      if (!claim.use(`certificate/${id}`))
        throw new SpoutError('ReferenceNotFound', {
          field: `listeners[${index}].tls.certificateIds[${place}]`,
          what: 'certificate',
          id,
        })
}
