import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { logDirectory, logsOf, removeOldLogs } from './kept-logs.ts'

const RUN = '537e187f-bc8c-4e11-9cfd-6e825c48c97b'

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'spout-logs-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

it('finds the logs of a file and a run, and no others', () => {
  expect(logsOf(root, 'e2e/a.test.ts', RUN)).toEqual([])
  const made = logDirectory(root, 'e2e/a.test.ts', RUN)
  for (const file of ['e2e/b.test.ts', 'e2e/a.test.tsx']) mkdirSync(logDirectory(root, file, RUN), { recursive: true })
  mkdirSync(logDirectory(root, 'e2e/a.test.ts', 'alone'))
  mkdirSync(made)
  expect(logsOf(root, 'e2e/a.test.ts', RUN)).toEqual([path.relative(root, made)])
  expect(logsOf(root, '', RUN)).toEqual([])
})

it('removes the oldest logs, and keeps twenty', () => {
  removeOldLogs(root)
  for (let age = 0; age < 25; age++) {
    const made = logDirectory(root, `e2e/${age}.test.ts`, RUN)
    mkdirSync(made, { recursive: true })
    utimesSync(made, 1000 - age, 1000 - age)
  }
  removeOldLogs(root)
  const left = readdirSync(path.join(root, 'build', 'test', 'logs')).map((name) => Number(name.split('.')[0]?.slice(4)))
  expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, age) => age))
})
