import type { Secret, SecretContainer } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/** The quota that a secret or a container uses: itself, and its bytes as JSON. */
export const usageOfSecret = (stored: Secret | SecretContainer): Usage => ({
  ...NO_USAGE,
  secrets: 1,
  bytes: Buffer.byteLength(JSON.stringify(stored)),
})
