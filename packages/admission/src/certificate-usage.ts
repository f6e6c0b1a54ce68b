import type { Certificate } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/** The quota that a certificate uses: itself, and its bytes as JSON. */
export const usageOfCertificate = (certificate: Certificate): Usage => ({
  ...NO_USAGE,
  certificates: 1,
  bytes: Buffer.byteLength(JSON.stringify(certificate)),
})
