import type { ServiceStats } from '@spout/model'
import {
  countedLatencies,
  type LatencyCounts,
  latenciesSince,
  latencyQuantile,
  plusLatencies,
} from '@spout/model/latency-counts'
import { RESPONSE_CLASSES, type RequestCounts } from '@spout/model/node-report'

/** Counters of one load balancer or listener, summed. */
export interface Counts {
  /** Open connections. */
  readonly open: number
  readonly connections: number
  readonly requests: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Requests that could not be read, and responses with status 4xx and 5xx. */
  readonly errors: number
  readonly responses: Readonly<Record<(typeof RESPONSE_CLASSES)[number], number>>
  /** For listeners that measure requests. */
  readonly latencies: LatencyCounts
}

/** Counters at a time of `performance.now()`, by id. */
export interface Sample {
  readonly atMs: number
  readonly counts: ReadonlyMap<string, Counts>
}

export function countsOf(stats: readonly ServiceStats[]): Counts {
  const sum = (of: (one: ServiceStats) => number): number => stats.reduce((total, one) => total + of(one), 0)
  const responses = Object.fromEntries(
    RESPONSE_CLASSES.map((each) => [each, sum(({ http }) => http?.responses[each] ?? 0)]),
  ) as Counts['responses']
  return {
    open: sum(({ activeConnections }) => activeConnections),
    connections: sum(({ totalConnections }) => totalConnections),
    requests: sum(({ http }) => http?.requests ?? 0),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    errors: sum(({ requestErrors }) => requestErrors) + responses['4xx'] + responses['5xx'],
    responses,
    latencies: stats.reduce<LatencyCounts>((total, { http }) => plusLatencies(total, http?.latencies ?? []), []),
  }
}

/** The counts of requests by pool or by route, which count nothing else. */
export function requestCounts(counted: readonly RequestCounts[]): Counts {
  const latencies = counted.reduce<LatencyCounts>((total, one) => plusLatencies(total, one.latencies), [])
  const responses = Object.fromEntries(
    RESPONSE_CLASSES.map((each) => [each, counted.reduce((total, one) => total + one.responses[each], 0)]),
  ) as Counts['responses']
  const errors = responses['4xx'] + responses['5xx']
  return { ...NOTHING, requests: countedLatencies(latencies), errors, responses, latencies }
}

/** The counts of something without requests so far. */
export const NOTHING: Counts = {
  ...{ open: 0, connections: 0, requests: 0, bytesIn: 0, bytesOut: 0, errors: 0, latencies: [] },
  responses: { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 },
}

/**
 * Rates per second between two samples. `open` is as in the later one, `latencies` are the counts in between.
 * @param absent the counts before, where the earlier sample lacks the id; left out: those of the later one, which make
 * the rate zero
 * @returns null when the later one lacks it
 */
export function ratesOf(id: string, before: Sample, after: Sample, absent?: Counts): Counts | null {
  const now = after.counts.get(id)
  if (now === undefined) return null
  const then = before.counts.get(id) ?? absent ?? now
  const seconds = (after.atMs - before.atMs) / 1000
  const rate = (was: number, is: number): number => Math.max(0, is - was) / seconds
  return {
    open: now.open,
    connections: rate(then.connections, now.connections),
    requests: rate(then.requests, now.requests),
    bytesIn: rate(then.bytesIn, now.bytesIn),
    bytesOut: rate(then.bytesOut, now.bytesOut),
    errors: rate(then.errors, now.errors),
    responses: Object.fromEntries(
      RESPONSE_CLASSES.map((each) => [each, rate(then.responses[each], now.responses[each])]),
    ) as Counts['responses'],
    latencies: latenciesSince(now.latencies, then.latencies),
  }
}

/** `0`, `0.2`, `17`, `1234`: with a tenth only where it matters. */
export const rateText = (rate: number): string => (rate >= 10 || rate === 0 ? rate.toFixed(0) : rate.toFixed(1))

/** `870 us`, `4.2 ms`, `130 ms`, `2.4 s`: the duration that this part of the requests did not exceed. */
export function quantileText(counts: LatencyCounts, part: number): string {
  const us = latencyQuantile(counts, part)
  if (us === null) return '-'
  const [value, unit] = us < 1_000 ? [us, 'us'] : us < 1_000_000 ? [us / 1_000, 'ms'] : [us / 1_000_000, 's']
  return `${unit === 'us' || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${unit}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** `312 B`, `4.7 kB`, `1200 PB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${UNITS[power]}`
}
