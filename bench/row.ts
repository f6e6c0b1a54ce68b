import { parseArgs } from 'node:util'

/** What repeated measurements came to, in ms. */
export interface Distribution {
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  /** All of them, in the order in which they were measured. */
  readonly samplesMs: readonly number[]
}

/** One line of a benchmark's result. */
export interface BenchRow {
  readonly name: string
  /** Our figure with its unit, such as `{ p50Ms: 12 }`. */
  readonly ours: Readonly<Record<string, number>>
  /** The peer's figure from the same run and what it is; null where there is no peer. */
  readonly peer: (Readonly<Record<string, number>> & { readonly [figure: string]: number }) | null
  /** What stands beside us in this run. */
  readonly comparedWith: string
  /** Ours over the peer's, or null. */
  readonly ratio: number | null
  /** The bound as the issue words it. */
  readonly goal: string
  readonly pass: boolean
  /** Ranges, counts and whatever else explains the figure. */
  readonly detail: Readonly<Record<string, number | string>>
  /** Distributions by series: ours and the peers'. */
  readonly distributions?: Readonly<Record<string, Distribution>>
}

export interface BenchOptions {
  /** Fewer rounds: to see that it works, not to quote. */
  readonly quick: boolean
  readonly json: boolean
}

export function benchOptions(): BenchOptions {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  })
  return { quick: values.quick, json: values.json }
}

const figures = (record: Readonly<Record<string, number | string>>): string =>
  Object.entries(record)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? rounded(value) : value}`)
    .join(', ')

const rounded = (value: number): number => (Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)))

/** Prints a row: one JSON object with `--json`, else a few lines for people. */
export function printRow(row: BenchRow, { json }: BenchOptions): void {
  if (json) process.stdout.write(`${JSON.stringify(row)}\n`)
  else
    process.stdout.write(
      [
        `${row.pass ? 'pass' : 'MISS'}  ${row.name}: ${figures(row.ours)}`,
        ...(row.peer
          ? [
              `      beside ${row.comparedWith}: ${figures(row.peer)}; ratio ${row.ratio === null ? '-' : rounded(row.ratio)}`,
            ]
          : []),
        ...Object.entries(row.distributions ?? {}).map(
          ([series, { count, p50, p90, p99, max }]) =>
            `      ${series}: p50 ${rounded(p50)}, p90 ${rounded(p90)}, p99 ${rounded(p99)}, max ${rounded(max)} ms (${count})`,
        ),
        `      goal: ${row.goal}${Object.keys(row.detail).length > 0 ? `; ${figures(row.detail)}` : ''}`,
        '',
      ].join('\n'),
    )
}
