import type { Network } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/** The quota that a network uses: itself, and its bytes as JSON with all subnets and routes. */
export const usageOfNetwork = (network: Network): Usage => ({
  ...NO_USAGE,
  networks: 1,
  bytes: Buffer.byteLength(JSON.stringify(network)),
})
