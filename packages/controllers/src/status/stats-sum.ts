import type { HttpStats, ResponseCounts, ServiceStats } from '@spout/model'
import { RESPONSE_CLASSES } from '@spout/model/node-report'

type Totals = Pick<ServiceStats, 'bytesIn' | 'bytesOut' | 'totalConnections' | 'requestErrors' | 'http'>
const TOTALS = ['bytesIn', 'bytesOut', 'totalConnections', 'requestErrors'] as const
const ZERO: Totals = { bytesIn: 0, bytesOut: 0, totalConnections: 0, requestErrors: 0 }

interface NodeShare {
  /** Totals from before the node's counters last restarted. */
  readonly before: Totals
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
    this.#shares.set(nodeId, { before, last: stats })
  }

  /** The node is lost or no longer carries it: its connections are gone, its totals remain. */
  ended(nodeId: string): void {
    const share = this.#shares.get(nodeId)
    if (share !== undefined) this.#shares.set(nodeId, { ...share, last: { ...share.last, activeConnections: 0 } })
  }

  /** What the node counted, over its restarts; null if it never carried it. */
  onNode(nodeId: string): ServiceStats | null {
    const share = this.#shares.get(nodeId)
    return share === undefined ? null : { ...share.last, ...plus(share.before, share.last) }
  }

  sum(): ServiceStats | null {
    const shares = [...this.#shares.values()]
    const first = shares[0]
    if (first === undefined) return null
    return {
      ...first.last,
      ...shares.reduce<Totals>((sum, { before, last }) => plus(sum, plus(before, last)), ZERO),
      activeConnections: shares.reduce((sum, { last }) => sum + last.activeConnections, 0),
    }
  }
}

const isLess = (now: Totals, last: Totals): boolean =>
  TOTALS.some((field) => now[field] < last[field]) || (now.http?.requests ?? 0) < (last.http?.requests ?? 0)

const plus = (a: Totals, b: Totals): Totals => ({
  bytesIn: a.bytesIn + b.bytesIn,
  bytesOut: a.bytesOut + b.bytesOut,
  totalConnections: a.totalConnections + b.totalConnections,
  requestErrors: a.requestErrors + b.requestErrors,
  ...plusHttp(a.http, b.http),
})

/** Nothing where neither counted requests. */
function plusHttp(a: HttpStats | undefined, b: HttpStats | undefined): Pick<ServiceStats, 'http'> {
  const one = a ?? b
  if (one === undefined) return {}
  if (a === undefined || b === undefined) return { http: one }
  const responses = RESPONSE_CLASSES.map((each) => [each, a.responses[each] + b.responses[each]])
  return {
    http: { requests: a.requests + b.requests, responses: Object.fromEntries(responses) as ResponseCounts },
  }
}
