import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { bundlesOf, upToDate } from './build-record.ts'

const BUILD_PROGRAM = path.join(import.meta.dirname, 'bundle-program.ts')

/**
 * The bundle of a program of this repository, which starts in a third of the processor time. It is built again when a
 * source has changed. Concurrent callers wait for the first.
 *
 * With `SPOUT_PROGRAMS=sources` in the environment the sources themselves run.
 * @param entry the program's source, such as `…/apps/cli/src/main.ts`
 * @returns the file to start in its place
 * @throws Error with the bundler's message
 */
export const bundled = (entry: string): string =>
  process.env['SPOUT_PROGRAMS'] === 'sources' ? entry : bundleOf(entry)

/** The same, whatever the environment says: packages contain bundles. */
export function bundleOf(entry: string): string {
  const built = upToDate(entry)
  if (built !== null) return built
  const directory = bundlesOf(entry)
  mkdirSync(directory, { recursive: true })
  // A kernel lock: it is released with the process that holds it, however that ends.
  const argv = [path.join(directory, 'lock'), process.execPath, BUILD_PROGRAM, entry]
  const { status, stderr, error } = spawnSync('flock', argv, { encoding: 'utf8' })
  if (error) throw error
  const file = status === 0 ? upToDate(entry) : null
  if (file === null) throw new Error(`${entry} was not bundled: ${stderr.trim() || 'its sources change all the time'}`)
  return file
}
