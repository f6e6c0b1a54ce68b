import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { byLength } from '../long-tests.ts'
import { writeProgram } from './program-file.ts'

const PROGRAMS = byLength(30, 150)
const THREADS = 2
const STARTS_CHILDREN = `
  const { spawn } = require('node:child_process')
  const next = () => spawn('/bin/true').on('exit', next)
  for (let i = 0; i < 4; i++) next()
  require('node:worker_threads').parentPort.postMessage('begun')
`

it('is run at once, while other threads start children', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-program-'))
  const threads = Array.from({ length: THREADS }, () => new Worker(STARTS_CHILDREN, { eval: true }))
  onTestFinished(async () => {
    await Promise.all(threads.map((thread) => thread.terminate()))
    rmSync(directory, { recursive: true })
  })
  await Promise.all(threads.map((thread) => once(thread, 'message')))
  for (let i = 0; i < PROGRAMS; i++) {
    const program = path.join(directory, `program-${i}`)
    // Long ones are open for longer.
    writeProgram(program, `#!/bin/sh\necho ${i}\n${'#'.repeat(20_000)}\n`)
    expect(execFileSync(program, { encoding: 'utf8' })).toBe(`${i}\n`)
  }
})
