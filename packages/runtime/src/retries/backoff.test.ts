import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backoff, backoffMs } from './backoff.ts'

const LIMITS = { firstMs: 100, mostMs: 1000 }

test('doubles up to the limit', () => {
  const whole = [1, 2, 3, 4, 5, 1000].map((failures) => backoffMs(failures, LIMITS, () => 1))
  expect(whole).toEqual([100, 200, 400, 800, 1000, 1000])
})

test('is random between half of the pause and all of it, whatever the count', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), random, (failures, drawn) => {
      const wholeMs = backoffMs(failures, LIMITS, () => 1)
      const pauseMs = backoffMs(failures, LIMITS, () => drawn)
      expect(pauseMs).toBeGreaterThanOrEqual(wholeMs / 2)
      expect(pauseMs).toBeLessThanOrEqual(wholeMs)
    }),
  )
})

test('starts over after a success, and is never shorter than the server asked for', () => {
  const backoff = new Backoff({ ...LIMITS, random: () => 0 })
  expect([backoff.next(), backoff.next(), backoff.failures]).toEqual([50, 100, 2])
  expect(backoff.next(5000)).toBe(5200)
  backoff.reset()
  expect([backoff.failures, backoff.next()]).toEqual([0, 50])
})
