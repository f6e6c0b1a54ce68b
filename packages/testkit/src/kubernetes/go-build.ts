import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { run } from '../lab/run.ts'

/** A Go module whose programs are built once and kept. */
export interface GoBuild {
  /** Directory with go.mod, go.sum and the sources. */
  readonly sources: string
  /** Which file of that directory is read in place of `go.mod`, and its `.sum` in place of `go.sum`; `go.mod` if absent. */
  readonly moduleFile?: string
  /** Directory for builds of this module: one subdirectory per version of the sources. */
  readonly cache: string
  /** Packages to build, as `go build` takes them. */
  readonly packages: readonly string[]
  readonly linkerFlags: readonly string[]
  /** Printed before a build: what is built, why and how long it takes. */
  readonly announcement: string
}

export interface EnsureOptions {
  /** Gets a line for each step and its reason; standard error by default. */
  readonly say?: (line: string) => void
}

/** Command line argument of the builder. */
export interface BuildOrder {
  readonly sources: string
  readonly target: string
  /** What ends the command line of `go build`: options of this module, then its packages. */
  readonly packages: readonly string[]
  readonly linkerFlags: readonly string[]
}

/** Time limit of a build; test hooks that may wait for one need as much. */
export const LONGEST_BUILD_MS = 45 * 60_000

const USUAL_MODULE_FILE = 'go.mod'
const BUILD_PROGRAM = path.join(import.meta.dirname, 'build-program.ts')

/** The directory of the programs of exactly these sources, built or not. */
export function builtDirectory(build: GoBuild): string {
  const { sources, moduleFile = USUAL_MODULE_FILE, cache, packages, linkerFlags } = build
  const hash = createHash('sha256').update(JSON.stringify([process.arch, packages, linkerFlags]))
  for (const file of globSync([moduleFile, moduleFile.replace(/mod$/, 'sum'), '**/*.go'], { cwd: sources }).toSorted())
    hash.update(`${file}\n`).update(readFileSync(path.join(sources, file)))
  hash.update(readFileSync(BUILD_PROGRAM))
  return path.join(cache, hash.digest('hex').slice(0, 16))
}

/**
 * Builds a module's programs if those of exactly these sources are missing. Concurrent callers wait for the first. A
 * build that was killed leaves nothing that could be taken for a complete one.
 *
 * @returns the directory of the programs
 * @throws Error with the end of the build's log
 */
export async function ensureGoBuild(build: GoBuild, { say = sayOnStderr }: EnsureOptions = {}): Promise<string> {
  const target = builtDirectory(build)
  if (existsSync(target)) return target
  mkdirSync(build.cache, { recursive: true })
  say(build.announcement)
  const started = performance.now()
  const { sources, moduleFile = USUAL_MODULE_FILE, packages, linkerFlags } = build
  const options = moduleFile === USUAL_MODULE_FILE ? [] : [`-modfile=${moduleFile}`]
  const order: BuildOrder = { sources, target, packages: [...options, ...packages], linkerFlags }
  // A kernel lock: it is released with the process that holds it, however that ends.
  const argv = ['flock', path.join(build.cache, 'lock'), process.execPath, BUILD_PROGRAM, JSON.stringify(order)]
  const { code, stdout, stderr } = await run(argv, { timeoutMs: LONGEST_BUILD_MS })
  if (code !== 0) throw new Error(`${sources}: exit ${code}:\n${`${stdout}\n${stderr}`.trim().slice(-4000)}`)
  for (const line of stderr.split('\n').filter(Boolean)) say(line)
  say(`Built in ${Math.round((performance.now() - started) / 1000)} s: ${target}`)
  return target
}

const sayOnStderr = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
