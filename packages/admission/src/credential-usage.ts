import type { ApplicationCredential } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/** What an application credential counts for in its project: its bytes as JSON. */
export const usageOfCredential = (credential: ApplicationCredential): Usage => ({
  ...NO_USAGE,
  bytes: Buffer.byteLength(JSON.stringify(credential)),
})
