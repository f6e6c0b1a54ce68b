import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { run } from '@spout/testkit'
import { ROOT } from './verb.ts'

/** A check of the sources by a program; its exit code is the result. */
export interface Check {
  readonly name: string
  readonly argv: readonly string[]
}

export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
  /** Output of the program. */
  readonly output: string
}

/**
 * The compiler's record of its last run. With it, only changed files and those that depend on them are checked again.
 */
const KNOWN_TYPES = path.join(ROOT, 'build', 'tsc.tsbuildinfo')

/** Checks that are not tests. */
export const STATIC_CHECKS: readonly Check[] = [
  { name: 'types', argv: ['tsc', '-p', ROOT, '--incremental', '--tsBuildInfoFile', KNOWN_TYPES] },
  { name: 'types of the web page', argv: ['tsc', '-p', path.join(ROOT, 'apps', 'dashboard')] },
  { name: 'lint and format', argv: ['biome', 'check', '--error-on-warnings', ROOT] },
  { name: 'dead code', argv: ['knip', '--no-progress', '--directory', ROOT] },
  { name: 'lock file', argv: ['npm', '--prefix', ROOT, 'ci', '--dry-run', '--ignore-scripts', '--no-audit'] },
]

/** Unit tests about the repository itself: those of `tools/`, and those that own goldens. */
export const unitTestsThatCheck = (): Check => ({
  name: 'layers, circles, commit subjects, docs links, generated reference, goldens',
  argv: ['vitest', 'run', '--root', ROOT, '--project', 'unit', 'tools/', ...goldenOwners(ROOT)],
})

/** The test files that compare something with a golden file. */
export const goldenOwners = (root: string): readonly string[] =>
  globSync('{packages,apps}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
    .filter((file) => readFileSync(path.join(root, file), 'utf8').includes('toMatchFileSnapshot('))
    .sort()

/** CI mode never writes a missing golden. */
export async function runCheck({ name, argv }: Check): Promise<CheckResult> {
  const started = performance.now()
  const { code, stdout, stderr } = await run(argv, { env: { CI: 'true', NO_COLOR: '1' }, timeoutMs: 300_000 })
  return {
    name,
    ok: code === 0,
    seconds: (performance.now() - started) / 1000,
    output: `${stdout}\n${stderr}`.trim(),
  }
}

/** Runs checks beside each other: most use one processor. @returns the results in the order of the checks */
export const runAtOnce = (checks: readonly Check[]): Promise<readonly CheckResult[]> =>
  Promise.all(checks.map(runCheck))

/** `ok    types (4.2 s)`, and the program's output if it failed. */
export const checkLines = ({ name, ok, seconds, output }: CheckResult): string =>
  `${ok ? 'ok  ' : 'FAIL'}  ${name} (${seconds.toFixed(1)} s)\n${ok ? '' : `${output}\n`}`
