import type { HttpStats, ResponseCounts, ServiceStats } from '@spout/model'
import { countedLatencies, type LatencyCounts, plusLatencies } from '@spout/model/latency-counts'
import { RESPONSE_CLASSES } from '@spout/model/node-report'

type Totals = Pick<ServiceStats, 'bytesIn' | 'bytesOut' | 'totalConnections' | 'requestErrors' | 'http'>
const TOTALS = ['bytesIn', 'bytesOut', 'totalConnections', 'requestErrors'] as const
const ZERO: Totals = { bytesIn: 0, bytesOut: 0, totalConnections: 0, requestErrors: 0 }

interface NodeShare {
  /** Totals from before the node's counters last restarted. */
  readonly before: Totals
  /** Latencies from before the agent last restarted: the agent counts them. */
  readonly latencies: LatencyCounts
  readonly last: ServiceStats
}

/**
 * One listener's counters over all nodes that carry or carried it. A node counts from when it programmed the listener,
 * and restarts when the kernel or the proxy does. The sum never decreases.
 */
export class StatsSum {
  readonly #shares = new Map<string, NodeShare>()

  report(nodeId: string, stats: ServiceStats): void {
    const share = this.#shares.get(nodeId)
    const startedOver = share !== undefined && isLess(stats, share.last)
    const before = share === undefined ? ZERO : startedOver ? plus(share.before, share.last) : share.before
    const [counted, known] = [latenciesOf(stats), share === undefined ? [] : latenciesOf(share.last)]
    const countedAnew = countedLatencies(counted) < countedLatencies(known)
    const earlier = share?.latencies ?? []
    const latencies = countedAnew ? plusLatencies(earlier, known) : earlier
    this.#shares.set(nodeId, { before, latencies, last: stats })
  }

  /** The node is lost or no longer carries it: its connections are gone, its totals remain. */
  ended(nodeId: string): void {
    const share = this.#shares.get(nodeId)
    if (share !== undefined) this.#shares.set(nodeId, { ...share, last: { ...share.last, activeConnections: 0 } })
  }

  /** What the node counted, over its restarts; null if it never carried it. */
  onNode(nodeId: string): ServiceStats | null {
    const share = this.#shares.get(nodeId)
    return share === undefined
      ? null
      : withLatencies({ ...share.last, ...plus(share.before, share.last) }, allLatencies(share))
  }

  sum(): ServiceStats | null {
    const shares = [...this.#shares.values()]
    const first = shares[0]
    if (first === undefined) return null
    const sum = {
      ...first.last,
      ...shares.reduce<Totals>((total, { before, last }) => plus(total, plus(before, last)), ZERO),
      activeConnections: shares.reduce((total, { last }) => total + last.activeConnections, 0),
    }
    const latencies = shares.reduce<LatencyCounts>((total, share) => plusLatencies(total, allLatencies(share)), [])
    return withLatencies(sum, latencies)
  }
}

const latenciesOf = ({ http }: ServiceStats): LatencyCounts => http?.latencies ?? []
const allLatencies = ({ latencies, last }: NodeShare): LatencyCounts => plusLatencies(latencies, latenciesOf(last))
const withLatencies = (stats: ServiceStats, latencies: LatencyCounts): ServiceStats =>
  stats.http === undefined || latencies.length === 0 ? stats : { ...stats, http: { ...stats.http, latencies } }

const isLess = (now: Totals, last: Totals): boolean =>
  TOTALS.some((field) => now[field] < last[field]) || (now.http?.requests ?? 0) < (last.http?.requests ?? 0)

const plus = (a: Totals, b: Totals): Totals => ({
  bytesIn: a.bytesIn + b.bytesIn,
  bytesOut: a.bytesOut + b.bytesOut,
  totalConnections: a.totalConnections + b.totalConnections,
  requestErrors: a.requestErrors + b.requestErrors,
  ...plusHttp(a.http, b.http),
})

/** Nothing if neither counted requests. Latencies are summed elsewhere, because they restart at other times. */
function plusHttp(a: HttpStats | undefined, b: HttpStats | undefined): Pick<ServiceStats, 'http'> {
  if (a === undefined && b === undefined) return {}
  const responses = RESPONSE_CLASSES.map((each) => [each, (a?.responses[each] ?? 0) + (b?.responses[each] ?? 0)])
  return {
    http: {
      requests: (a?.requests ?? 0) + (b?.requests ?? 0),
      responses: Object.fromEntries(responses) as ResponseCounts,
    },
  }
}
