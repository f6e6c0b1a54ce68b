import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRoom } from './directory-room.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-room-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

test('tells what is left where a directory is, or would be made', async () => {
  const missing = path.join(directory, 'not/yet/there')
  const [found, parent] = await readRoom([missing, directory])
  expect(found).toMatchObject({ directory: missing, mount: directory, device: statSync(directory).dev })
  expect(parent).toMatchObject({ directory, mount: directory, totalBytes: found?.totalBytes })
  expect(found?.freeBytes).toBeGreaterThan(0)
  expect(found?.freeBytes).toBeLessThanOrEqual(found?.totalBytes ?? 0)
})
