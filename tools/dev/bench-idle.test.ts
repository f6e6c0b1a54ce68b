import { expect, it } from 'vitest'
import { untilIdle } from '../../bench/bed/processes.ts'

it('who went on with what was under way is waited for', async () => {
  let left = 3.2
  let used = 0
  let waitedMs = 0
  const works = async (ms: number) => {
    waitedMs += ms
    const share = Math.min(left, ms / 1000)
    left -= share
    // Timers of an idle server.
    used += share + 0.01
  }
  await untilIdle(() => used, works)
  expect(left).toBe(0)
  expect(waitedMs).toBe(4000)
})

it('who never comes to rest is said', async () => {
  let used = 0
  const works = async () => {
    used += 0.4
  }
  await expect(untilIdle(() => used, works)).rejects.toThrow('still busy')
})
