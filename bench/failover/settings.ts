import { benchOptions } from '../row.ts'

export const options = benchOptions()
/** Runs of every fault on every pair. */
export const RUNS = Number(process.env['SPOUT_BENCH_RUNS'] ?? (options.quick ? 5 : 20))

/** A subset chosen by `SPOUT_BENCH_<NAME>=a,b`, for work on one part. */
export function only<T extends string>(name: string, all: readonly T[]): readonly T[] {
  const wanted = process.env[`SPOUT_BENCH_${name}`]?.split(',')
  return wanted === undefined ? all : all.filter((one) => wanted.includes(one))
}
