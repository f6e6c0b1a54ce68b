import type { ApplicationCredential } from '@spout/model'
import type { Claim } from './claims.ts'
import { usageOfCredential } from './credential-usage.ts'

/** Claims the quota of an application credential. @throws SpoutError OverQuota */
export const claimCredentialRoom = (claim: Claim, next: ApplicationCredential): void =>
  claim.quota(next.projectId, [{ key: `applicationCredential/${next.id}`, usage: usageOfCredential(next) }])
