import { expect, test } from 'vitest'
import { limitSettings } from './cgroup.ts'

const LIMITS = { memoryBytes: 8 << 20, pids: 20, cpus: 0.5 }

test.each([
  [1, { 'memory.limit_in_bytes': '8388608', 'pids.max': '20', 'cpu.cfs_quota_us': '50000' }],
  [2, { 'memory.max': '8388608', 'pids.max': '20', 'cpu.max': '50000 100000' }],
] as const)('writes the files of version %i', (version, files) => {
  expect(Object.fromEntries(limitSettings(version, LIMITS).map(({ file, value }) => [file, value]))).toEqual(files)
  expect(limitSettings(version, {})).toEqual([])
})
