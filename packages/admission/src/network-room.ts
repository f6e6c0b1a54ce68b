import type { Network } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'
import type { Claim } from './claims.ts'

/** What a network counts for: itself, and its bytes as JSON with all subnets and routes. */
export const usageOfNetwork = (network: Network): Usage => ({
  ...NO_USAGE,
  networks: 1,
  bytes: Buffer.byteLength(JSON.stringify(network)),
})

/** Claims what a network will count for. @throws SpoutError OverQuota */
export const claimNetworkRoom = (claim: Claim, next: Network): void =>
  claim.quota(next.projectId, [{ key: `network/${next.id}`, usage: usageOfNetwork(next) }])
