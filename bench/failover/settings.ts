import { benchOptions } from '../row.ts'

export const options = benchOptions()
/** Of every fault and every pair. */
export const RUNS = Number(process.env['SPOUT_BENCH_RUNS'] ?? (options.quick ? 5 : 20))

/** A part of what there is, by `SPOUT_BENCH_<NAME>=a,b`: to look at one thing while working on it. */
export function only<T extends string>(name: string, all: readonly T[]): readonly T[] {
  const wanted = process.env[`SPOUT_BENCH_${name}`]?.split(',')
  return wanted === undefined ? all : all.filter((one) => wanted.includes(one))
}
