import type { MoverShard, ShardStateName } from './mover-state.ts'

/** One shard as this node sees it, for the node's report. */
export interface ShardReport {
  readonly shard: number
  /** `stopped`: no keepalived runs here. */
  readonly state: ShardStateName
  /** RFC 3339; since when it is in that state. */
  readonly since: string
  /** Takeovers by this node since the mover began. */
  readonly takeovers: number
  readonly lastMove: {
    readonly to: ShardStateName
    /** RFC 3339. */
    readonly at: string
    /** `vrrp`, `frozen`, `conflict`, `stop`; `drained`, `handed over`, `rebalanced` or `unhealthy: <reason>` for what this node gave up. */
    readonly reason: string
    /** Number of addresses that were bound or unbound, and the time that took. */
    readonly addresses: number
    readonly tookUs: number
    /** Milliseconds from the previous master's last advert to this takeover; null if not known. */
    readonly silentMs: number | null
  } | null
}

/** The mover's reasons if it does not know better, since the peer's advert may be heard before keepalived notifies. */
const PEER: ReadonlySet<string> = new Set(['vrrp', 'conflict'])

/** @param gaveUp why this node has given the shard up; null if it takes part */
export function shardReport(shard: MoverShard, gaveUp: string | null): ShardReport {
  const { lastMove } = shard
  return {
    shard: shard.shard,
    state: shard.state,
    since: rfc3339(shard.sinceMs),
    takeovers: shard.takeovers,
    lastMove:
      lastMove === null
        ? null
        : {
            to: lastMove.to,
            at: rfc3339(lastMove.atMs),
            reason:
              lastMove.to === 'fault' && PEER.has(lastMove.reason) ? (gaveUp ?? lastMove.reason) : lastMove.reason,
            addresses: lastMove.addresses,
            tookUs: lastMove.tookUs,
            silentMs: lastMove.silentUs === null ? null : Math.round(lastMove.silentUs / 1000),
          },
  }
}

export const stoppedReport = (shard: number, sinceMs: number): ShardReport => ({
  shard,
  state: 'stopped',
  since: rfc3339(sinceMs),
  takeovers: 0,
  lastMove: null,
})

const rfc3339 = (ms: number): string => new Date(ms).toISOString()
