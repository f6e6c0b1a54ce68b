import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, expect, test } from 'vitest'
import { RoundTurns } from './round-turns.ts'

/** One round of the event loop. An immediate that was set later runs later. */
const round = () => new Promise<void>((resolve) => setImmediate(resolve))
const rounds = async (count: number) => {
  for (let n = 0; n < count; n++) await round()
}

let clock: FakeClock
const made: string[] = []
beforeEach(() => {
  clock = new FakeClock()
  made.length = 0
})

/** Makes pieces, each of which takes a while. */
const work = async (turns: RoundTurns, who: string, pieces: number, pieceMs = 0) => {
  for (let piece = 0; piece < pieces; piece++) {
    await turns.next(who)
    clock.stall(pieceMs)
    made.push(who)
  }
}

test('one piece is made per round, and owners take turns, however many pieces one has waiting', async () => {
  const turns = new RoundTurns({ clock })
  for (let reader = 0; reader < 100; reader++) void work(turns, 'busy', 5)
  void work(turns, 'other', 2)
  await round()
  expect(made).toEqual(['busy'])
  await round()
  expect(made).toEqual(['busy', 'other'])
  await rounds(2)
  expect(made).toEqual(['busy', 'other', 'busy', 'other'])
  await rounds(498)
  expect(made.filter((who) => who === 'busy')).toHaveLength(500)
  await rounds(5)
  expect(made).toHaveLength(502)
})

test("one owner's pieces have their turns in order", async () => {
  const turns = new RoundTurns({ clock })
  for (const name of ['first', 'second', 'third']) void turns.next('one').then(() => made.push(name))
  await rounds(3)
  expect(made).toEqual(['first', 'second', 'third'])
})

test('while others ask, long work has a quarter of the time', async () => {
  const turns = new RoundTurns({ clock, othersAsk: () => true })
  void work(turns, 'busy', 1000, 1)
  const startMs = clock.monotonicMs()
  while (clock.monotonicMs() - startMs < 400) {
    await rounds(2)
    await clock.advance(0.5)
  }
  // The first begins at once. A pause ends when the test's clock next advances, by half a millisecond.
  expect(made.length).toBeGreaterThanOrEqual(80)
  expect(made.length).toBeLessThanOrEqual(101)
})

test('without others it does not pause', async () => {
  const turns = new RoundTurns({ clock, othersAsk: (who) => who !== 'busy' })
  void work(turns, 'busy', 50, 1)
  await rounds(50)
  expect(made).toHaveLength(50)
  expect(clock.timers).toBe(0)
})

test('very short pieces share one pause', async () => {
  const turns = new RoundTurns({ clock, othersAsk: () => true })
  void work(turns, 'busy', 100, 0.125)
  await rounds(20)
  expect(made).toHaveLength(4)
  await clock.advance(1.5)
  await rounds(20)
  expect(made).toHaveLength(8)
})
