import { expect, test } from 'vitest'
import { type Clock, pause } from './clock.ts'
import { FakeClock } from './fake-clock.ts'
import { sharedWakeUps } from './shared-wake-ups.ts'

/** Repeats work of no duration, and notes when it begins. */
function repeat(shared: Clock, everyMs: number, times: number[]): void {
  shared.setTimer(() => {
    times.push(shared.monotonicMs())
    repeat(shared, everyMs, times)
  }, everyMs)
}

test('work of different periods, begun at different times, shares its wake-ups', async () => {
  const clock = new FakeClock()
  const shared = sharedWakeUps(clock)
  const [seconds, pairs, fives]: [number[], number[], number[]] = [[], [], []]
  await clock.advance(130)
  repeat(shared, 1000, seconds)
  await clock.advance(415)
  repeat(shared, 2000, pairs)
  repeat(shared, 5000, fives)
  expect(clock.timers).toBe(3)
  await clock.advance(10_000)
  expect(seconds.slice(0, 4)).toEqual([1000, 2000, 3000, 4000])
  expect(pairs.slice(0, 3)).toEqual([2000, 4000, 6000])
  expect(fives.slice(0, 2)).toEqual([5000, 10_000])
  // At 11 s and 12 s and 15 s.
  expect(clock.timers).toBe(3)
})

test('work that took long begins again with the others, and never at once', async () => {
  const clock = new FakeClock()
  const shared = sharedWakeUps(clock)
  const fired: number[] = []
  const note = () => fired.push(clock.monotonicMs())
  await clock.advance(300)
  shared.setTimer(note, 1000)
  await clock.advance(1650)
  shared.setTimer(note, 1000)
  await clock.advance(1100)
  expect(fired).toEqual([1000, 3000])
})

test('shorter timers fire at their own time', async () => {
  const clock = new FakeClock()
  const shared = sharedWakeUps(clock)
  await clock.advance(7)
  let firedMs = 0
  shared.setTimer(() => {
    firedMs = clock.monotonicMs()
  }, 999)
  await clock.advance(2000)
  expect(firedMs).toBe(1006)
})

test('a cleared timer does not fire, and leaves those that it shares a wake-up with', async () => {
  const clock = new FakeClock()
  const shared = sharedWakeUps(clock)
  const fired: string[] = []
  const callback = () => fired.push('one of two')
  const cleared = shared.setTimer(callback, 1000)
  shared.setTimer(callback, 1000)
  shared.setTimer(() => fired.push('other'), 1200).clear()
  cleared.clear()
  cleared.clear()
  await clock.advance(1000)
  expect(fired).toEqual(['one of two'])
  shared.setTimer(callback, 1000).clear()
  expect(clock.timers).toBe(0)
})

test('a timer that another of its wake-up clears does not fire', async () => {
  const clock = new FakeClock()
  const shared = sharedWakeUps(clock)
  const fired: string[] = []
  shared.setTimer(() => other.clear(), 1000)
  const other = shared.setTimer(() => fired.push('other'), 1000)
  await clock.advance(2000)
  expect(fired).toEqual([])
})

test('a timer that fired just before its time is followed by one of the next', async () => {
  const clock = new FakeClock()
  const shared = sharedWakeUps(clock)
  await clock.advance(1999)
  const times: number[] = []
  repeat(shared, 2000, times)
  await clock.advance(4001)
  expect(times).toEqual([4000, 6000])
})

test('a pause on it ends at once when its signal aborts', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const paused = pause(sharedWakeUps(clock), 1000, stop.signal)
  stop.abort()
  await paused
  expect(clock.timers).toBe(0)
})
