import { expect, it } from 'vitest'
import { type Left, LookTimes } from './look-times.ts'

/** The pauses before the next looks, while this is left. */
function pauses(times: LookTimes, count: number, left: Left): readonly number[] {
  return Array.from({ length: count }, () => {
    const inMs = times.nextInMs(left)
    times.made(left)
    return inMs
  })
}

it('looks less and less often at servers whose connections go on', () => {
  const times = new LookTimes(1_000)
  const left = { endsInMs: 300_000, slots: 0 }
  expect(pauses(times, 11, left)).toEqual([25, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 8_000, 8_000])
})

it('looks once in a sweep period while a slot is to be freed', () => {
  const times = new LookTimes(1_000)
  const left = { endsInMs: Number.POSITIVE_INFINITY, slots: 1 }
  expect(pauses(times, 8, left)).toEqual([25, 50, 100, 200, 400, 800, 1_000, 1_000])
})

it('looks when a deadline comes, and once in a sweep period after it', () => {
  const times = new LookTimes(1_000)
  pauses(times, 10, { endsInMs: 300_000, slots: 0 })
  expect(times.nextInMs({ endsInMs: 2_500, slots: 0 })).toBe(2_500)
  expect(pauses(times, 2, { endsInMs: 0, slots: 0 })).toEqual([1_000, 1_000])
})

it('looks soon after a change', () => {
  const times = new LookTimes(1_000)
  const left = { endsInMs: 300_000, slots: 0 }
  expect(times.isLate).toBe(false)
  pauses(times, 10, left)
  expect(times.isLate).toBe(true)
  times.restart()
  expect(pauses(times, 2, left)).toEqual([25, 50])
})
