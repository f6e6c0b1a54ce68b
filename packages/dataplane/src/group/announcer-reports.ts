import type { BgpSessionReport, ShardReport } from '@spout/model/node-report'
import type { BgpSession } from '../announcers/bgp/bgp-session.ts'
import type { ShardReport as LocalShard } from '../announcers/vrrp/shard-report.ts'

/** A shard as the control plane is told of it. */
export const shardReport = ({ shard, state, since, takeovers, lastMove }: LocalShard): ShardReport => ({
  number: shard,
  state,
  since,
  takeovers,
  lastMove:
    lastMove === null
      ? null
      : {
          at: lastMove.at,
          from: lastMove.to === 'master' ? 'backup' : 'master',
          to: lastMove.to,
          reason: lastMove.reason,
          silentMs: lastMove.silentMs,
        },
})

/** A BGP session as the control plane is told of it. */
export const sessionReport = ({ peerId, state, since, announced, lastError, bfd }: BgpSession): BgpSessionReport => ({
  peerId,
  state,
  since,
  announced,
  lastError,
  bfd,
})
