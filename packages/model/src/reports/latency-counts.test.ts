import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countedLatencies,
  LATENCY_BUCKETS,
  type LatencyCounts,
  latenciesSince,
  latencyBucket,
  latencyBucketOf,
  latencyQuantile,
  plusLatencies,
} from './latency-counts.ts'

const countsOf = (durations: readonly number[]): LatencyCounts =>
  durations.reduce<LatencyCounts>((counts, us) => plusLatencies(counts, [[latencyBucketOf(us), 1]]), [])
const durationUs = fc.oneof(fc.nat(64), fc.nat(1_000_000), fc.integer({ min: 0, max: 0xffff_ffff }))

describe('buckets of durations', () => {
  test('are next to each other, from 0 to 71 minutes', () => {
    const all = Array.from({ length: LATENCY_BUCKETS }, (_, at) => latencyBucket(at))
    expect(all[0]).toEqual({ from: 0, to: 1 })
    for (const [at, { from }] of all.entries()) expect(from).toBe(at === 0 ? 0 : all[at - 1]!.to)
    expect(all.at(-1)!.to).toBe(2 ** 32)
    expect([-1, 2 ** 40].map(latencyBucketOf)).toEqual([0, LATENCY_BUCKETS - 1])
  })

  test('have the durations that they say, and a middle within 1/16 of each', () => {
    fc.assert(
      fc.property(durationUs, (us) => {
        const { from, to } = latencyBucket(latencyBucketOf(us))
        expect(from <= us && us < to).toBe(true)
        expect(Math.abs((from + to) / 2 - us)).toBeLessThanOrEqual(us < 16 ? 0.5 : us / 16)
      }),
    )
  })
})

describe('quantiles', () => {
  test('are within 1/16 of those of the sorted durations', () => {
    fc.assert(
      fc.property(
        fc.array(durationUs, { minLength: 1, maxLength: 60 }),
        fc.constantFrom(0, 0.5, 0.9, 0.99, 1),
        (durations, part) => {
          const sorted = durations.toSorted((a, b) => a - b)
          const exact = sorted[Math.max(1, Math.ceil(sorted.length * part)) - 1]!
          expect(Math.abs(latencyQuantile(countsOf(durations), part)! - exact)).toBeLessThanOrEqual(exact / 16)
        },
      ),
    )
  })

  test('are unknown without requests', () => expect(latencyQuantile([], 0.5)).toBeNull())
})

test('sums and differences are those of the durations', () => {
  fc.assert(
    fc.property(fc.array(durationUs), fc.array(durationUs), (first, second) => {
      const both = plusLatencies(countsOf(first), countsOf(second))
      expect(both).toEqual(countsOf([...second, ...first]))
      expect(latenciesSince(both, countsOf(first))).toEqual(countsOf(second))
      expect(countedLatencies(both)).toBe(first.length + second.length)
    }),
  )
})
