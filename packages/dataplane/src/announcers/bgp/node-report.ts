import type { BgpSessionReport } from '@spout/model/node-report'
import type { BgpSession } from './bgp-session.ts'

/** A BGP session, for the node's report to the control plane. */
export const reportedSession = ({ peerId, state, since, announced, lastError, bfd }: BgpSession): BgpSessionReport => ({
  peerId,
  state,
  since,
  announced,
  lastError,
  bfd,
})
