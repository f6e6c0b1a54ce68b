import type { Network } from '@spout/model'
import type { Claim } from './claims.ts'
import { usageOfNetwork } from './network-usage.ts'

/** Claims the quota of a network. @throws SpoutError OverQuota */
export const claimNetworkRoom = (claim: Claim, next: Network): void =>
  claim.quota(next.projectId, [{ key: `network/${next.id}`, usage: usageOfNetwork(next) }])
