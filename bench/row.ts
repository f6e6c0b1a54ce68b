import { parseArgs } from 'node:util'
import { ROWS_OF } from './rows.ts'

/** Repeated measurements, in ms. */
export interface Distribution {
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  /** All of them, in the order of measurement. */
  readonly samplesMs: readonly number[]
}

/** One line of a benchmark's result. */
export interface BenchRow {
  readonly name: string
  /** Our figure with its unit, such as `{ p50Ms: 12 }`. */
  readonly ours: Readonly<Record<string, number>>
  /** The peer's figure from the same run and what it is; null without a peer. */
  readonly peer: (Readonly<Record<string, number>> & { readonly [figure: string]: number }) | null
  /** What ours is compared with in this run. */
  readonly comparedWith: string
  /** Ours over the peer's, or null. */
  readonly ratio: number | null
  /** The goal in words. */
  readonly goal: string
  readonly pass: boolean
  /** Ranges, counts and other explanations of the figure. */
  readonly detail: Readonly<Record<string, number | string>>
  /** Distributions by series: ours and the peers'. */
  readonly distributions?: Readonly<Record<string, Distribution>>
}

export interface BenchOptions {
  /** Fewer rounds after the same warm-up: to see that it works, not to quote. */
  readonly quick: boolean
  readonly json: boolean
  /** The requested rows; none: all. */
  readonly rows: readonly string[]
}

export function benchOptions(): BenchOptions {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      row: { type: 'string', multiple: true, default: [] },
    },
  })
  return { quick: values.quick, json: values.json, rows: values.row }
}

/** Whether a row was requested: work for other rows can be skipped. */
export const isWanted = (name: string, { rows }: BenchOptions): boolean => rows.length === 0 || rows.includes(name)

const figures = (record: Readonly<Record<string, number | string>>): string =>
  Object.entries(record)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? rounded(value) : value}`)
    .join(', ')

const rounded = (value: number): number => (Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)))

/**
 * Prints a row if it was requested: one JSON object with `--json`, else a few lines for people.
 * @throws Error for a row that is missing in `rows.ts`, because nobody could request it
 */
export function printRow(row: BenchRow, options: BenchOptions): void {
  if (!Object.values(ROWS_OF).some((rows) => rows.includes(row.name))) throw new Error(`rows.ts has no row ${row.name}`)
  if (!isWanted(row.name, options)) return
  if (options.json) process.stdout.write(`${JSON.stringify(row)}\n`)
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
