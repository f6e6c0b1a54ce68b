import { expect, test } from 'vitest'
import { FakeClock } from '../clock/fake-clock.ts'
import { RecentPeaks } from './recent-peaks.ts'

test('the highest count counts for half a second at least, and for a second at most', async () => {
  const clock = new FakeClock()
  const peaks = new RecentPeaks(clock)
  peaks.note('a', 3)
  peaks.note('a', 1)
  expect([peaks.of('a'), peaks.of('b')]).toEqual([3, 0])
  await clock.advance(600)
  peaks.note('a', 2)
  expect(peaks.of('a')).toBe(3)
  await clock.advance(400)
  expect(peaks.of('a')).toBe(2)
  await clock.advance(5000)
  expect(peaks.of('a')).toBe(0)
})
