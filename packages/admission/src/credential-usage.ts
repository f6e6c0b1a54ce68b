import type { ApplicationCredential } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/** The quota that an application credential uses: its bytes as JSON. */
export const usageOfCredential = (credential: ApplicationCredential): Usage => ({
  ...NO_USAGE,
  bytes: Buffer.byteLength(JSON.stringify(credential)),
})
