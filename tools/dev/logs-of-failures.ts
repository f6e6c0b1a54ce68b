/**
 * Runs before each test file with labs, and keeps the logs of its labs if the file fails. Without it they would be
 * deleted with the labs, and a failure that happens once in many runs could not be explained.
 */
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { keepLogsIn, keepLogsOfStandingLabs } from '@spout/testkit/kept-logs'
import { afterAll, beforeAll } from 'vitest'
import { logDirectory, removeOldLogs } from './kept-logs.ts'
import { ROOT } from './verb.ts'

/** A file, a suite or a test, as vitest describes it. */
interface Task {
  readonly result?: { readonly state: string }
  readonly tasks?: readonly Task[]
}

let directory: string

// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what the hook needs, and wants one.
beforeAll(({}, { file }) => {
  directory = logDirectory(ROOT, path.relative(ROOT, file.filepath), process.env['SPOUT_TEST_RUN'] ?? 'alone')
  keepLogsIn(directory)
})

// Hooks after tests run in reverse order: the file's own, which destroy its labs, come before this one.
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what the hook needs, and wants one.
afterAll(({}, { file }) => {
  if (hasFailed(file)) keepLogsOfStandingLabs()
  else rmSync(directory, { recursive: true, force: true })
  keepLogsIn(null)
  if (!existsSync(directory)) return
  removeOldLogs(ROOT)
  process.stderr.write(`logs of its labs: ${path.relative(ROOT, directory)}\n`)
})

const hasFailed = ({ result, tasks = [] }: Task): boolean => result?.state === 'fail' || tasks.some(hasFailed)
