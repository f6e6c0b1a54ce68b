import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepLogsIn, keepLogsOf } from './kept-logs.ts'

let root: string
let lab: { readonly id: string; readonly directory: string }
let kept: string

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'spout-kept-logs-'))
  lab = { id: 'no-such-lab', directory: path.join(root, 'lab') }
  kept = path.join(root, 'kept')
  mkdirSync(path.join(lab.directory, 'bird'), { recursive: true })
  writeFileSync(path.join(lab.directory, 'agent.log'), 'agent')
  writeFileSync(path.join(lab.directory, 'bird', 'log'), 'bird')
  writeFileSync(path.join(lab.directory, 'token'), 'secret')
})
afterEach(() => {
  keepLogsIn(null)
  rmSync(root, { recursive: true, force: true })
})

it('keeps the logs of a lab in its directory, and nothing else of it', () => {
  keepLogsIn(kept)
  keepLogsOf(lab)
  const files = readdirSync(path.join(kept, lab.id), { recursive: true, encoding: 'utf8' }).toSorted()
  expect(files).toEqual(['agent.log', 'bird', 'bird/log'])
  expect(readFileSync(path.join(kept, lab.id, 'bird', 'log'), 'utf8')).toBe('bird')
})

it('keeps the end of a long log', () => {
  const long = `${'x'.repeat(2 * 1024 * 1024)}the end`
  writeFileSync(path.join(lab.directory, 'agent.log'), long)
  keepLogsIn(kept)
  keepLogsOf(lab)
  const end = readFileSync(path.join(kept, lab.id, 'agent.log'), 'utf8')
  expect(end).toHaveLength(1024 * 1024)
  expect(end.endsWith('the end')).toBe(true)
})

it('keeps nothing unless it is told to, nor of a lab that is gone, nor where it cannot write', () => {
  keepLogsOf(lab)
  keepLogsIn(kept)
  keepLogsOf({ ...lab, directory: path.join(root, 'none') })
  expect(readdirSync(root)).toEqual(['lab'])
  keepLogsIn(path.join(lab.directory, 'token'))
  keepLogsOf(lab)
  expect(readdirSync(root)).toEqual(['lab'])
})
