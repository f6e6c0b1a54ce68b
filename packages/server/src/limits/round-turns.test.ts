import { expect, test } from 'vitest'
import { RoundTurns } from './round-turns.ts'

/** Rounds of the event loop, told after the turns of each: an immediate that was set later runs later. */
const round = () => new Promise<void>((resolve) => setImmediate(resolve))

test('each has one piece made in a round, however many it has waiting', async () => {
  const turns = new RoundTurns()
  const made: string[] = []
  const work = async (who: string, pieces: number) => {
    for (let piece = 0; piece < pieces; piece++) {
      await turns.next(who)
      made.push(who)
    }
  }
  for (let reader = 0; reader < 100; reader++) void work('busy', 5)
  void work('other', 2)
  await round()
  expect(made).toEqual(['busy', 'other'])
  await round()
  expect(made).toEqual(['busy', 'other', 'busy', 'other'])
  for (let left = 498; left > 0; left--) await round()
  expect(made.filter((who) => who === 'busy')).toHaveLength(500)
  await round()
  expect(made).toHaveLength(502)
})

test('work of one has its turns in the order that it was asked for', async () => {
  const turns = new RoundTurns()
  const made: number[] = []
  for (const number of [1, 2, 3]) void turns.next('one').then(() => made.push(number))
  for (let n = 0; n < 3; n++) await round()
  expect(made).toEqual([1, 2, 3])
})
