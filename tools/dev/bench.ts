import path from 'node:path'
import { nearest } from '@spout/model/nearest'
import { productUnit, runInteractive } from '@spout/testkit'
import { ROWS_OF } from '../../bench/rows.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

const OPTIONS = ['--quick', '--json']

/** A benchmark to run, with the requested rows; none means all. */
export interface Chosen {
  readonly program: string
  readonly rows: readonly string[]
}

/**
 * The benchmarks for some names, in the order of bench/rows.ts. A name is that of a benchmark, a prefix of several
 * (`failover`), or that of a row. Without names: all.
 * @throws UsageError for an unknown name
 */
export function benchmarksOf(
  names: readonly string[],
  rowsOf: Readonly<Record<string, readonly string[]>> = ROWS_OF,
): readonly Chosen[] {
  const programs = Object.keys(rowsOf)
  const known = [...new Set([...programs, ...Object.values(rowsOf).flat()])]
  const chosen = names.flatMap((name): readonly Chosen[] => {
    if (programs.includes(name)) return [{ program: name, rows: [] }]
    const owner = programs.find((program) => rowsOf[program]!.includes(name))
    if (owner !== undefined) return [{ program: owner, rows: [name] }]
    const family = programs.filter((program) => program.startsWith(`${name}-`))
    if (family.length > 0) return family.map((program) => ({ program, rows: [] }))
    throw new UsageError(
      `there is no benchmark and no row ${JSON.stringify(name)}; the nearest is ${nearest(name, known, Number.POSITIVE_INFINITY)}. There are: ${known.join(', ')}`,
    )
  })
  if (names.length === 0) return programs.map((program) => ({ program, rows: [] }))
  return programs.flatMap((program) => {
    const asked = chosen.filter((one) => one.program === program)
    if (asked.length === 0) return []
    return [{ program, rows: asked.some(({ rows }) => rows.length === 0) ? [] : asked.flatMap(({ rows }) => rows) }]
  })
}

/** `./dev bench [NAME…] [--quick] [--json]` */
export const bench: Verb = {
  name: 'bench',
  usage: '[NAME…] [--quick] [--json]',
  summary: 'measures against real peers in the same run; JSON lines with --json',
  details: `NAME is a benchmark or one of its rows. --quick: fewer rounds of the same.
${Object.entries(ROWS_OF)
  .map(([program, rows]) => `  ${program}: ${rows.join(', ')}`)
  .join('\n')}`,
  async run(args) {
    const options = args.filter((arg) => arg.startsWith('--'))
    const unknown = options.find((option) => !OPTIONS.includes(option))
    if (unknown !== undefined) throw new UsageError(`there is no option ${unknown}: ${OPTIONS.join(', ')}`)
    let worst = 0
    for (const { program, rows } of benchmarksOf(args.filter((arg) => !arg.startsWith('--')))) {
      const code = await runInteractive([
        process.execPath,
        // Some benchmarks contain parts of the control plane.
        ...productUnit('control-plane').nodeOptions,
        path.join(ROOT, 'bench', `${program}.bench.ts`),
        ...options,
        ...rows.flatMap((row) => ['--row', row]),
      ])
      worst = Math.max(worst, code)
    }
    return worst
  },
}
