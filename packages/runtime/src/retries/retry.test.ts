import { expect, test } from 'vitest'
import { FakeClock } from '../clock/fake-clock.ts'
import { type RetryOptions, retry } from './retry.ts'

function bed(over: Partial<RetryOptions> = {}) {
  const clock = new FakeClock()
  const stopping = new AbortController()
  const failures: [string, number][] = []
  const options: RetryOptions = {
    clock,
    signal: stopping.signal,
    firstPauseMs: 100,
    longestPauseMs: 300,
    random: () => 1,
    onFailure: ({ message }, pauseMs) => void failures.push([message, pauseMs]),
    ...over,
  }
  return { clock, stopping, failures, options }
}

test('tries until the work is done, with growing pauses', async () => {
  const { clock, failures, options } = bed()
  let attempts = 0
  const ended = retry(async () => {
    if (++attempts < 5) throw new Error(`attempt ${attempts}`)
    return 'done'
  }, options)
  for (const ms of [100, 200, 300, 300]) await clock.advance(ms)
  await ended
  expect(failures).toEqual([
    ['attempt 1', 100],
    ['attempt 2', 200],
    ['attempt 3', 300],
    ['attempt 4', 300],
  ])
})

test('starts with short pauses again after a success', async () => {
  const { clock, stopping, failures, options } = bed()
  const outcomes = ['fails', 'fails', 'well', 'fails'] as const
  let attempts = 0
  const ended = retry(async (resetPauses) => {
    const outcome = outcomes[attempts++]
    if (outcome === 'fails') throw new Error(outcome)
    if (outcome === 'well') resetPauses()
    return 'again'
  }, options)
  for (const ms of [100, 200, 100]) await clock.advance(ms)
  expect(failures.map(([, pauseMs]) => pauseMs)).toEqual([100, 200, 200])
  stopping.abort()
  await ended
  expect(attempts).toBe(4)
})

test('a failure after the abort is not reported', async () => {
  const { stopping, failures, options } = bed()
  await retry(async () => {
    stopping.abort()
    throw new Error('aborted')
  }, options)
  expect(failures).toEqual([])
})
