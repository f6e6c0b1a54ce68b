import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryUse } from './cgroup-memory.ts'

let memory: string
beforeEach(() => {
  memory = mkdtempSync(join(tmpdir(), 'spt-'))
})
afterEach(() => rmSync(memory, { recursive: true }))

const V1 = {
  'memory.usage_in_bytes': '9000000\n',
  'memory.limit_in_bytes': '268435456\n',
  'memory.stat': 'cache 5\ninactive_file 1\ntotal_cache 5\ntotal_inactive_file 1000000\n',
  'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n',
}
const V2 = {
  'memory.current': '9000000\n',
  'memory.max': '268435456\n',
  'memory.stat': 'anon 7\ninactive_anon 5\ninactive_file 1000000\n',
  'memory.events': 'low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n',
}

function group(files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(memory, file), text)
}

test.each([
  [1, V1],
  [2, V2],
] as const)('reads what a group holds and how often it was too much, version %i', async (version, files) => {
  group(files)
  expect(await memoryUse({ version, roots: { memory } }, '.')).toEqual({
    ...{ usedBytes: 8_000_000, limitBytes: 268_435_456, oomKills: 3 },
  })
})

test.each([
  [1, { ...V1, 'memory.limit_in_bytes': '9223372036854771712\n' }],
  [2, { ...V2, 'memory.max': 'max\n' }],
] as const)('says nothing where nothing bounds it, version %i', async (version, files) => {
  group(files)
  expect(await memoryUse({ version, roots: { memory } }, '.')).toBeNull()
})

test('says nothing of a group that is not there, nor without the controller', async () => {
  expect(await memoryUse({ version: 2, roots: { memory } }, 'gone')).toBeNull()
  expect(await memoryUse({ version: 1, roots: {} }, 'gone')).toBeNull()
})
