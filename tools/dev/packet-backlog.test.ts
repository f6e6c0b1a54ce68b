import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { droppedOfBacklogs } from './packet-backlog.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'spout-backlog-'))
const file = path.join(directory, 'file')
afterAll(() => rmSync(directory, { recursive: true }))
const holding = (text: string) => {
  writeFileSync(file, text)
  return file
}

it('sums what the queues of all processors dropped', () => {
  expect(droppedOfBacklogs(holding('0288bc03 000000bb 00000010\n0279a8df 00000265 0000000b\n'))).toBe(0xbb + 0x265)
  expect(droppedOfBacklogs(path.join(directory, 'absent'))).toBe(0)
})
