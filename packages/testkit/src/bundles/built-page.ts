import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { PAGE, pageUpToDate } from './page-record.ts'

const BUILD_PROGRAM = path.join(import.meta.dirname, 'build-page-program.ts')
/** It takes seconds. */
const LONGEST_MS = 120_000

/**
 * The web page, built again when a source has changed. Concurrent callers wait for the first.
 * @returns the directory
 * @throws Error with the builder's message
 */
export function builtPage(): string {
  if (pageUpToDate()) return PAGE
  mkdirSync(path.dirname(PAGE), { recursive: true })
  // A kernel lock: it is released with the process that holds it, however that ends.
  const { status, stdout, stderr, error } = spawnSync(
    'flock',
    [`${PAGE}.lock`, process.execPath, BUILD_PROGRAM],
    // A test's own environment would make another page of it.
    { encoding: 'utf8', timeout: LONGEST_MS, env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } },
  )
  if (error) throw error
  if (status !== 0) throw new Error(`the web page was not built: ${(stderr.trim() || stdout.trim()).slice(-4000)}`)
  return PAGE
}
