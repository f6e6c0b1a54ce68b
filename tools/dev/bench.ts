import { globSync } from 'node:fs'
import path from 'node:path'
import { productUnit, runInteractive } from '@spout/testkit'
import { ROOT, UsageError, type Verb } from './verb.ts'

/** Every benchmark is a program in bench/ that prints one JSON object a line: name, ours, peer, ratio, goal, pass. */
const programs = (): ReadonlyMap<string, string> =>
  new Map(
    globSync('bench/*.bench.ts', { cwd: ROOT })
      .sort()
      .map((file) => [path.basename(file, '.bench.ts'), path.join(ROOT, file)]),
  )

/** The programs that a name means: the one that is called so, or all whose names begin with it, such as `failover`. */
const programsOf = (name: string, known: Iterable<string>): readonly string[] => {
  const all = [...known]
  return all.includes(name) ? [name] : all.filter((program) => program.startsWith(`${name}-`))
}

/** `./dev bench [NAME…] [--quick] [--json]` */
export const bench: Verb = {
  name: 'bench',
  usage: '[NAME…] [--quick] [--json]',
  summary: 'measures against real peers in the same run; JSON lines with --json',
  details: `Benchmarks: ${[...programs().keys()].join(', ')}`,
  async run(args) {
    const known = programs()
    const names = args.filter((arg) => !arg.startsWith('--'))
    const unknown =
      names.find((name) => programsOf(name, known.keys()).length === 0) ??
      args.find((arg) => arg.startsWith('--') && !['--quick', '--json'].includes(arg))
    if (unknown)
      throw new UsageError(
        `there is no benchmark or option ${JSON.stringify(unknown)}: ${[...known.keys()].join(', ')}`,
      )
    let worst = 0
    const chosen = names.flatMap((name) => programsOf(name, known.keys()))
    for (const name of names.length > 0 ? chosen : known.keys()) {
      const code = await runInteractive([
        process.execPath,
        // Some have parts of the control plane in them.
        ...productUnit('control-plane').nodeOptions,
        known.get(name) ?? '',
        ...args.filter((arg) => arg.startsWith('--')),
      ])
      worst = Math.max(worst, code)
    }
    return worst
  },
}
