import { claimableDomain, type DomainClaim, domainClaim } from '@spout/model'
import { z } from 'zod'

export const domainClaimDraft = z.strictObject({
  projectId: domainClaim.shape.projectId,
  domain: claimableDomain,
  description: domainClaim.shape.description.default(''),
})
export type DomainClaimDraft = z.input<typeof domainClaimDraft>

/** The result of a lookup of a claim's record. */
export type DomainFinding =
  | { readonly record: 'present' }
  /** `other`: there are such records, of other claims. */
  | { readonly record: 'absent' | 'other' }
  /** The lookup failed. @property why the resolver's reason, for people */
  | { readonly record: 'unknown'; readonly why: string }

/** Writes of domains that projects claim and prove. */
export interface DomainAdmission {
  /** @throws SpoutError NameTaken when the project has a claim of the domain; OverQuota */
  claimDomain(draft: DomainClaimDraft): Promise<DomainClaim>
  /** @throws SpoutError InUse for a domain that a name of the project's load balancers needs */
  withdrawDomainClaim(id: string): Promise<void>
  /**
   * Concludes what a check means for a claim. The domain becomes the project's, stays, or is lost. Nothing is written
   * when nothing changes.
   * @param graceMs for how long a proven domain may miss its record
   */
  concludeDomainCheck(id: string, finding: DomainFinding, graceMs: number): Promise<DomainClaim>
}
