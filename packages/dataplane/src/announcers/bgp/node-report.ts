import type { BgpSessionReport } from '@spout/model/node-report'
import type { BgpSession } from './bgp-session.ts'

/** A BGP session as the control plane is told of it. */
export const reportedSession = ({ peerId, state, since, announced, lastError, bfd }: BgpSession): BgpSessionReport => ({
  peerId,
  state,
  since,
  announced,
  lastError,
  bfd,
})
