import type { ApplicationCredential } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'
import type { Claim } from './claims.ts'

/** What an application credential counts for in its project: its bytes as JSON. */
export const usageOfCredential = (credential: ApplicationCredential): Usage => ({
  ...NO_USAGE,
  bytes: Buffer.byteLength(JSON.stringify(credential)),
})

/** Claims what an application credential will count for. @throws SpoutError OverQuota */
export const claimCredentialRoom = (claim: Claim, next: ApplicationCredential): void =>
  claim.quota(next.projectId, [{ key: `applicationCredential/${next.id}`, usage: usageOfCredential(next) }])
