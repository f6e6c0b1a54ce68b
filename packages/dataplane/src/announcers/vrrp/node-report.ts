import type { ShardReport } from '@spout/model/node-report'
import type { ShardReport as LocalShard } from './shard-report.ts'

/** A shard, for the node's report to the control plane. */
export const reportedShard = ({ shard, state, since, takeovers, lastMove }: LocalShard): ShardReport => ({
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
