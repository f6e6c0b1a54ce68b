import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Lab, PlaceName } from '../lab/lab.ts'
import { writeProgram } from '../lab/program-file.ts'
import { type RunResult, run } from '../lab/run.ts'

export interface PageShellOptions {
  /** Where commands run; it holds the files that they name. */
  readonly directory: string
  readonly lab: Lab
  /** Command lines of the programs that pages name, by their names. */
  readonly programs: Readonly<Record<string, readonly string[]>>
  readonly env: Readonly<Record<string, string>>
  /** What `./dev env` exports; left out: nothing. */
  readonly exports?: Readonly<Record<string, string>>
  /** Where commands run, by default on the host. */
  readonly place?: PlaceName
}

export type PageShell = (command: string, input?: string) => Promise<RunResult>

/** Some commands wait until what they delete is gone. */
const LONGEST_MS = 240_000
const quoted = (argv: readonly string[]): string => argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')

/**
 * A shell in which the commands of a page mean what they mean to its reader: `spout` and others are programs in its search
 * path, and `./dev spout`, `./dev in PLACE` and `./dev env` are those of this lab. It has no terminal.
 */
export function pageShell({
  directory,
  lab,
  programs,
  env,
  exports = {},
  place = 'host',
}: PageShellOptions): PageShell {
  const bin = path.join(directory, 'bin')
  mkdirSync(bin, { recursive: true })
  for (const [name, argv] of Object.entries(programs))
    writeProgram(path.join(bin, name), `#!/bin/sh\nexec ${quoted(argv)} "$@"\n`)
  const lines = Object.entries(exports).map(([name, value]) => `export ${name}=${quoted([value])}\n`)
  writeFileSync(path.join(bin, 'exports'), lines.join(''))
  writeProgram(
    path.join(directory, 'dev'),
    `#!/bin/sh
verb=$1; shift
case $verb in
  spout) exec spout "$@" ;;
  env) exec cat ${quoted([path.join(bin, 'exports')])} ;;
  in) place=$1; shift; exec nsenter --net="/run/netns/${lab.namespace('')}$place" -- "$@" ;;
  *) echo "there is no ./dev $verb here" >&2; exit 2 ;;
esac
`,
  )
  const search = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, NO_COLOR: '1' }
  return (command, input) => {
    const argv = ['setsid', '--wait', 'bash', '-c', `cd ${quoted([directory])}\n${command}`]
    const options = { env: { ...search, ...env }, timeoutMs: LONGEST_MS, ...(input === undefined ? {} : { input }) }
    return run(lab.argvIn(place, argv), options)
  }
}
