import { countedLatencies, type LatencyCounts, latencyBucket, plusLatencies } from '@spout/model/latency-counts'
import { RESPONSE_CLASSES, type ResponseCounts } from '@spout/model/node-report'
import type { ListenerLatencies } from './request-figures.ts'

/**
 * Upper bounds of the histograms' buckets, in microseconds: powers of two from 0.5 ms to 67 s. They are also bounds of
 * the finer buckets of `LatencyCounts`, so the counts are exact.
 */
const BOUNDS_US = Array.from({ length: 18 }, (_, at) => 2 ** (9 + at))

/**
 * Histograms of durations by listener, pool and route, and counts of responses by route, in the Prometheus text format.
 * Labels are ids, so the number of series is bounded by listeners, pools and `MOST_COUNTED_ROUTES`. Octavia has no such
 * metrics.
 */
export function latencyFamilies(listeners: ReadonlyMap<string, ListenerLatencies>): readonly string[] {
  const pools = new Map<string, LatencyCounts>()
  for (const { parts } of listeners.values())
    for (const [id, { latencies }] of Object.entries(parts.pools))
      pools.set(id, plusLatencies(pools.get(id) ?? [], latencies))
  const routes = [...listeners].flatMap(([listener, { parts }]) =>
    Object.entries(parts.routes).map(([id, figures]) => ({ label: `listener="${listener}",route="${id}"`, figures })),
  )
  return [
    histogram(
      'spout_listener_request_duration_seconds',
      'How long requests took, to the end of the response.',
      [...listeners].map(([id, { all }]) => [`listener="${id}"`, all]),
    ),
    histogram(
      'spout_pool_request_duration_seconds',
      'How long requests that a pool got took, to the end of the response.',
      [...pools].map(([id, counts]) => [`pool="${id}"`, counts]),
    ),
    histogram(
      'spout_route_request_duration_seconds',
      'How long requests that a route took lasted, to the end of the response.',
      routes.map(({ label, figures }) => [label, figures.latencies]),
    ),
    responsesOf(routes),
  ]
}

/** Classes without a response are left out. */
function responsesOf(
  routes: readonly { readonly label: string; readonly figures: { readonly responses: ResponseCounts } }[],
): string {
  const name = 'spout_route_http_responses_total'
  const lines = routes.flatMap(({ label, figures: { responses } }) =>
    RESPONSE_CLASSES.filter((code) => responses[code] > 0).map((code) => {
      return `${name}{${label},code="${code}"} ${responses[code]}\n`
    }),
  )
  if (lines.length === 0) return ''
  return `# HELP ${name} Responses to requests that a route took.\n# TYPE ${name} counter\n${lines.join('')}`
}

function histogram(name: string, help: string, series: readonly (readonly [string, LatencyCounts])[]): string {
  if (series.length === 0) return ''
  const lines = series.flatMap(([label, counts]) => {
    const total = countedLatencies(counts)
    const within = (bound: number): number =>
      countedLatencies(counts.filter(([bucket]) => latencyBucket(bucket).to <= bound))
    return [
      ...BOUNDS_US.map((bound) => `${name}_bucket{${label},le="${bound / 1e6}"} ${within(bound)}`),
      `${name}_bucket{${label},le="+Inf"} ${total}`,
      `${name}_sum{${label}} ${sumUs(counts) / 1e6}`,
      `${name}_count{${label}} ${total}`,
    ]
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join('\n')}\n`
}

/** The sum of all durations, taken from the middles of the buckets: the error is at most 1/16. */
const sumUs = (counts: LatencyCounts): number =>
  counts.reduce((sum, [bucket, count]) => {
    const { from, to } = latencyBucket(bucket)
    return sum + ((from + to) / 2) * count
  }, 0)
