import type { Distribution } from './row.ts'

/** The value below which the share `p` (0 to 1) of the samples lies; nearest rank. NaN for no samples. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5)

/** `{p50Ms, p99Ms, minMs, maxMs}` of durations in ms. */
export const spread = (
  samplesMs: readonly number[],
): { p50Ms: number; p99Ms: number; minMs: number; maxMs: number } => ({
  p50Ms: percentile(samplesMs, 0.5),
  p99Ms: percentile(samplesMs, 0.99),
  minMs: Math.min(...samplesMs),
  maxMs: Math.max(...samplesMs),
})

/**
 * Median of the ratios of pairs measured side by side. A slow machine slows both of a pair, so this says more than the
 * ratio of two medians.
 */
export const pairedRatio = (ours: readonly number[], peer: readonly number[]): number =>
  median(ours.map((one, round) => one / (peer[round] ?? Number.NaN)))

export const distribution = (samplesMs: readonly number[]): Distribution => ({
  count: samplesMs.length,
  p50: percentile(samplesMs, 0.5),
  p90: percentile(samplesMs, 0.9),
  p99: percentile(samplesMs, 0.99),
  max: percentile(samplesMs, 1),
  samplesMs: samplesMs.map((one) => Number(one.toFixed(2))),
})
