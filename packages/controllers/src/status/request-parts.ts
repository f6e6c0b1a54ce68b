import { plusLatencies } from '@spout/model/latency-counts'
import { RESPONSE_CLASSES, type RequestCounts, type RequestParts, type ResponseCounts } from '@spout/model/node-report'

export const NO_PARTS: RequestParts = { pools: {}, routes: {} }

/** The sum of two counts, pool by pool and route by route. Pure. */
export const plusParts = (a: RequestParts, b: RequestParts): RequestParts =>
  a === NO_PARTS ? b : b === NO_PARTS ? a : { pools: plus(a.pools, b.pools), routes: plus(a.routes, b.routes) }

type Counted = Readonly<Record<string, RequestCounts>>

function plus(a: Counted, b: Counted): Counted {
  const sums = new Map(Object.entries(a))
  for (const [id, counts] of Object.entries(b)) {
    const other = sums.get(id)
    sums.set(id, other === undefined ? counts : sumOf(other, counts))
  }
  return Object.fromEntries(sums)
}

const sumOf = (a: RequestCounts, b: RequestCounts): RequestCounts => ({
  latencies: plusLatencies(a.latencies, b.latencies),
  responses: plusResponses(a.responses, b.responses),
})

export const plusResponses = (a: ResponseCounts | undefined, b: ResponseCounts | undefined): ResponseCounts =>
  Object.fromEntries(RESPONSE_CLASSES.map((each) => [each, (a?.[each] ?? 0) + (b?.[each] ?? 0)])) as ResponseCounts

export const minusResponses = (a: ResponseCounts, b: ResponseCounts | undefined): ResponseCounts =>
  Object.fromEntries(RESPONSE_CLASSES.map((each) => [each, a[each] - (b?.[each] ?? 0)])) as ResponseCounts
