import type { HttpStats, ServiceStats } from '@spout/model'
import { countedLatencies, type LatencyCounts, latenciesSince, plusLatencies } from '@spout/model/latency-counts'
import type { RequestParts } from '@spout/model/node-report'
import { minusResponses, NO_PARTS, plusParts, plusResponses } from './request-parts.ts'

type Totals = Pick<ServiceStats, 'bytesIn' | 'bytesOut' | 'totalConnections' | 'requestErrors' | 'http'>
const TOTALS = ['bytesIn', 'bytesOut', 'totalConnections', 'requestErrors'] as const
const ZERO: Totals = { bytesIn: 0, bytesOut: 0, totalConnections: 0, requestErrors: 0 }

interface NodeShare {
  /** Totals of the node's earlier counters, before they last restarted. */
  readonly before: Totals
  /** Counts before the agent's last restart. The agent counts latencies itself, so they restart at other times. */
  readonly latencies: LatencyCounts
  readonly parts: RequestParts
  readonly last: ServiceStats
}

/** What came to a node's counters. Of open connections, how many more there are: fewer are negative. */
export type Increment = Pick<ServiceStats, (typeof TOTALS)[number] | 'activeConnections'>

/**
 * The counters of one listener, summed over all nodes that carry or carried it. A node's counters begin when it
 * programs the listener, and start again when the kernel or the proxy restarts. The sum never decreases.
 */
export class StatsSum {
  readonly #shares = new Map<string, NodeShare>()
  /** What nodes had counted when they were first heard. */
  #start: Totals = ZERO
  #startLatencies: LatencyCounts = []

  /** @returns what the node counted since its last report; what it had counted before the first one is none of it */
  report(nodeId: string, stats: ServiceStats): Increment {
    const share = this.#shares.get(nodeId)
    const startedOver = share !== undefined && isLess(stats, share.last)
    if (share === undefined) {
      this.#start = plus(this.#start, stats)
      this.#startLatencies = plusLatencies(this.#startLatencies, latenciesOf(stats))
    }
    const before = share === undefined ? ZERO : startedOver ? plus(share.before, share.last) : share.before
    const [counted, known] = [latenciesOf(stats), share === undefined ? [] : latenciesOf(share.last)]
    const countedAnew = countedLatencies(counted) < countedLatencies(known)
    const earlier = { latencies: share?.latencies ?? [], parts: share?.parts ?? NO_PARTS }
    const counts = countedAnew && share !== undefined ? allCounts(share) : earlier
    this.#shares.set(nodeId, { before, ...counts, last: stats })
    return incrementOf(share, stats, startedOver)
  }

  /** Open connections by node, as they were last reported. */
  get open(): readonly (readonly [nodeId: string, connections: number])[] {
    return [...this.#shares].map(([nodeId, { last }]) => [nodeId, last.activeConnections])
  }

  /** Call when the node is lost. Its connections no longer count, but its totals do. */
  ended(nodeId: string): void {
    const share = this.#shares.get(nodeId)
    if (share !== undefined) this.#shares.set(nodeId, { ...share, last: { ...share.last, activeConnections: 0 } })
  }

  /** The node's counters, including those before restarts. Null: it never carried the listener. */
  onNode(nodeId: string): ServiceStats | null {
    const share = this.#shares.get(nodeId)
    return share === undefined
      ? null
      : withLatencies({ ...share.last, ...plus(share.before, share.last) }, allCounts(share).latencies)
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
    const latencies = shares.reduce<LatencyCounts>(
      (total, share) => plusLatencies(total, allCounts(share).latencies),
      [],
    )
    return withLatencies(sum, latencies)
  }

  /** As `sum`, without what nodes had counted before they were first heard. */
  sinceStart(): ServiceStats | null {
    const sum = this.sum()
    if (sum === null) return null
    const since = { ...sum, ...minus(sum, this.#start) }
    return withLatencies(since, latenciesSince(latenciesOf(sum), this.#startLatencies))
  }

  /** Requests by pool and by route, summed over nodes. Null: no node counts them. */
  parts(): RequestParts | null {
    const shares = [...this.#shares.values()]
    if (shares.every(({ last, parts }) => last.http?.parts === undefined && parts === NO_PARTS)) return null
    return shares.map((share) => allCounts(share).parts).reduce(plusParts, NO_PARTS)
  }
}

function incrementOf(share: NodeShare | undefined, stats: ServiceStats, startedOver: boolean): Increment {
  const { last = stats } = share ?? {}
  const since = (field: (typeof TOTALS)[number]) => stats[field] - (startedOver ? 0 : last[field])
  return {
    bytesIn: since('bytesIn'),
    bytesOut: since('bytesOut'),
    totalConnections: since('totalConnections'),
    requestErrors: since('requestErrors'),
    activeConnections: stats.activeConnections - (share?.last.activeConnections ?? 0),
  }
}

const latenciesOf = ({ http }: ServiceStats): LatencyCounts => http?.latencies ?? []
const allCounts = ({ latencies, parts, last }: NodeShare): Pick<NodeShare, 'latencies' | 'parts'> => ({
  latencies: plusLatencies(latencies, latenciesOf(last)),
  parts: plusParts(parts, last.http?.parts ?? NO_PARTS),
})
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

function minus(a: Totals, b: Totals): Totals {
  const { requests = 0, responses } = b.http ?? {}
  return {
    bytesIn: a.bytesIn - b.bytesIn,
    bytesOut: a.bytesOut - b.bytesOut,
    totalConnections: a.totalConnections - b.totalConnections,
    requestErrors: a.requestErrors - b.requestErrors,
    ...(a.http && {
      http: { requests: a.http.requests - requests, responses: minusResponses(a.http.responses, responses) },
    }),
  }
}

/** Empty if neither counted requests. Latencies are summed separately, because they restart at other times. */
function plusHttp(a: HttpStats | undefined, b: HttpStats | undefined): Pick<ServiceStats, 'http'> {
  if (a === undefined && b === undefined) return {}
  return {
    http: {
      requests: (a?.requests ?? 0) + (b?.requests ?? 0),
      responses: plusResponses(a?.responses, b?.responses),
    },
  }
}
