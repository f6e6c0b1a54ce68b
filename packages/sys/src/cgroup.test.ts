import { expect, test } from 'vitest'
import { limitSettings, readThrottling } from './cgroup.ts'

const LIMITS = { memoryBytes: 8 << 20, pids: 20, cpus: 0.5 }

test.each([
  [1, { 'memory.limit_in_bytes': '8388608', 'pids.max': '20', 'cpu.cfs_quota_us': '50000' }],
  [2, { 'memory.max': '8388608', 'pids.max': '20', 'cpu.max': '50000 100000' }],
] as const)('writes the files of version %i', (version, files) => {
  expect(Object.fromEntries(limitSettings(version, LIMITS).map(({ file, value }) => [file, value]))).toEqual(files)
  expect(limitSettings(version, {})).toEqual([])
})

test.each([
  [1, 'nr_periods 7\nnr_throttled 3\nthrottled_time 120\n', { periods: 7, throttled: 3 }],
  [2, 'usage_usec 9\nuser_usec 5\nnr_periods 7\nnr_throttled 3\nthrottled_usec 1\n', { periods: 7, throttled: 3 }],
  [2, 'usage_usec 9\nuser_usec 5\n', null],
] as const)('reads what a group was held up, version %i', (_, text, throttling) => {
  expect(readThrottling(text)).toEqual(throttling)
})
