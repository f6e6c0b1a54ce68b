import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { must, run } from '../lab/run.ts'

/** This repository. Its programs run unless a test names another checkout. */
export const THIS_CHECKOUT = path.resolve(import.meta.dirname, '../../../..')
const CACHE = path.join(THIS_CHECKOUT, 'build', 'checkouts')

/** Steps that take seconds take longer while other tests run. */
const STEP = { timeoutMs: 5 * 60_000 } as const

/** Time limit for making a checkout, for hooks that wait for one. */
export const LONGEST_CHECKOUT_MS = 10 * 60_000

/** Whether the local history contains a commit. A shallow clone or an archive may not. */
export const hasCommit = async (commit: string): Promise<boolean> =>
  (await run(['git', '-C', THIS_CHECKOUT, 'cat-file', '-e', `${commit}^{commit}`])).code === 0

/**
 * A runnable checkout of an earlier commit of this repository: its sources, the npm packages of its own lock file and
 * its native programs. Made once and kept in `build/checkouts`; an interrupted one leaves nothing that could be taken
 * for a complete one.
 *
 * @param commit a full object name
 * @returns the directory
 * @throws Error with the output of the step that failed
 */
export async function checkoutOf(commit: string): Promise<string> {
  const target = path.join(CACHE, commit)
  if (existsSync(target)) return target
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(path.join(CACHE, 'draft-'))
  try {
    const archive = path.join(draft, 'sources.tar')
    await must(['git', '-C', THIS_CHECKOUT, 'archive', '--output', archive, commit])
    await must(['tar', '-xf', archive, '-C', draft])
    rmSync(archive)
    // Node.js is an optional package: the tests' own runs both versions.
    const omitted = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await must(['npm', '--prefix', draft, 'ci', '--prefer-offline', ...omitted], STEP)
    await must(['make', '-s', '-C', path.join(draft, 'native')], STEP)
    renameSync(draft, target)
    return target
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
