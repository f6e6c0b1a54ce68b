import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endWhatHoldsOpen } from './held-open.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-held-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** A program that writes its report, and ends when the process that it started has ended. */
const run = (runId: string, reportFile: string, sleepS: number) =>
  spawn('sh', ['-c', `sleep ${sleepS} & echo '{}' > ${reportFile}; wait`], {
    stdio: 'ignore',
    env: { ...process.env, SPOUT_TEST_RUN: runId },
  })

it('ends a process that a test left behind, and not the run itself', async () => {
  const [runId, reportFile] = [randomUUID(), path.join(directory, 'report.json')]
  const ended = once(run(runId, reportFile, 600), 'exit')
  const killed = await endWhatHoldsOpen({ reportFile, runId }, ended, 0)
  expect(killed).toEqual([expect.stringContaining('sleep 600')])
  expect(await ended).toEqual([0, null])
})

it('leaves a run alone that ends by itself', async () => {
  const [runId, reportFile] = [randomUUID(), path.join(directory, 'report.json')]
  const ended = once(run(runId, reportFile, 0), 'exit')
  expect(await endWhatHoldsOpen({ reportFile, runId }, ended)).toEqual([])
})
