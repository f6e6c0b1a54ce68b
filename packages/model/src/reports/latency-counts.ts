/**
 * A histogram of how long requests took. Up to 15 us each bucket is one microsecond wide. Above that, each doubling of
 * the duration has eight buckets of equal width. The middle of a bucket differs from any duration in it by at most 1/16
 * (6.25 %). The last bucket ends at 2^32 us, 71 minutes, and also counts everything longer.
 */

const EXACT = 16
const PER_DOUBLING = 8
const FIRST_POWER = 4
const LONGEST_US = 0xffff_ffff
export const LATENCY_BUCKETS = EXACT + (32 - FIRST_POWER) * PER_DOUBLING

/** The buckets that are not empty, with their counts, in ascending order. */
export type LatencyCounts = readonly (readonly [bucket: number, count: number])[]

/** @param us a duration, whole microseconds */
export function latencyBucketOf(us: number): number {
  const capped = Math.min(Math.max(0, us), LONGEST_US)
  if (capped < EXACT) return Math.floor(capped)
  const power = 31 - Math.clz32(capped)
  return EXACT + (power - FIRST_POWER) * PER_DOUBLING + Math.floor(capped / 2 ** (power - 3)) - PER_DOUBLING
}

/** The range of a bucket in microseconds: `from` is included, `to` is not. */
export function latencyBucket(bucket: number): { readonly from: number; readonly to: number } {
  if (bucket < EXACT) return { from: bucket, to: bucket + 1 }
  const power = FIRST_POWER + Math.floor((bucket - EXACT) / PER_DOUBLING)
  const width = 2 ** (power - 3)
  const from = 2 ** power + ((bucket - EXACT) % PER_DOUBLING) * width
  return { from, to: from + width }
}

export const countedLatencies = (counts: LatencyCounts): number => counts.reduce((sum, [, count]) => sum + count, 0)

/**
 * The duration in microseconds that a fraction of the requests did not exceed, with an error of at most 1/16. Null
 * without requests.
 * @param part the fraction, 0 to 1
 */
export function latencyQuantile(counts: LatencyCounts, part: number): number | null {
  let left = Math.max(1, Math.ceil(countedLatencies(counts) * part))
  for (const [bucket, count] of counts) {
    left -= count
    if (left > 0) continue
    const { from, to } = latencyBucket(bucket)
    return bucket < EXACT ? from : (from + to) / 2
  }
  return null
}

export const plusLatencies = (a: LatencyCounts, b: LatencyCounts): LatencyCounts => combined(a, b, 1)

/** The counts since `before`. */
export const latenciesSince = (now: LatencyCounts, before: LatencyCounts): LatencyCounts => combined(now, before, -1)

function combined(a: LatencyCounts, b: LatencyCounts, sign: 1 | -1): LatencyCounts {
  const sums = new Map(a)
  for (const [bucket, count] of b) sums.set(bucket, (sums.get(bucket) ?? 0) + sign * count)
  return [...sums].filter(([, count]) => count > 0).sort(([one], [other]) => one - other)
}
