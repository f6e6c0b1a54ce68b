import type { ServiceStats } from '@spout/model'
import { LATENCY_BUCKETS, type LatencyCounts } from '@spout/model/latency-counts'
import { RESPONSE_CLASSES } from '@spout/model/node-report'

/** Counters of a listener on all nodes, or of all that is on one node. */
export type CountedStats = Pick<
  ServiceStats,
  'bytesIn' | 'bytesOut' | 'totalConnections' | 'activeConnections' | 'requestErrors' | 'http'
>

/** What a load balancer has counted so far, over its listeners; or a node. */
export interface Counted {
  readonly connections: number
  readonly open: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly requestErrors: number
  /** Requests, then answers by class; null where no proxy parses requests. */
  readonly requests: readonly number[] | null
  /** By bucket, as in `LatencyCounts`; null where durations are not counted. */
  readonly latencies: Uint32Array | null
}

export function countedIn(stats: readonly CountedStats[]): Counted {
  const sum = (of: (one: CountedStats) => number): number => stats.reduce((total, one) => total + of(one), 0)
  const [parsed, timed] = [stats.some(({ http }) => http), stats.some(({ http }) => http?.latencies)]
  return {
    connections: sum(({ totalConnections }) => totalConnections),
    open: sum(({ activeConnections }) => activeConnections),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    requestErrors: sum(({ requestErrors }) => requestErrors),
    requests: parsed
      ? [
          sum(({ http }) => http?.requests ?? 0),
          ...RESPONSE_CLASSES.map((each) => sum(({ http }) => http?.responses[each] ?? 0)),
        ]
      : null,
    latencies: timed ? summed(stats.map(({ http }) => http?.latencies ?? [])) : null,
  }
}

function summed(all: readonly LatencyCounts[]): Uint32Array {
  const sums = new Uint32Array(LATENCY_BUCKETS)
  for (const counts of all) for (const [bucket, count] of counts) sums[bucket] = (sums[bucket] ?? 0) + count
  return sums
}

/** The counts since `before`; a bucket that overflowed in between is right, too. */
export const latenciesBetween = (before: Uint32Array | null, now: Uint32Array): LatencyCounts =>
  [...now].flatMap((count, bucket): LatencyCounts => {
    const more = (count - (before?.[bucket] ?? 0)) >>> 0
    return more === 0 ? [] : [[bucket, more]]
  })

/** Whether anything was counted at all. */
export const hasTraffic = ({ connections, bytesIn, bytesOut }: Counted): boolean => connections + bytesIn + bytesOut > 0
