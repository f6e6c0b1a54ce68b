import { expect, it } from 'vitest'
import { HandOvers } from './hand-overs.ts'

it('makes each planned move once, however often it is ordered, and continues after a failed one', async () => {
  const made: number[] = []
  const warned: unknown[] = []
  const log = { debug: () => {}, info: () => {}, warn: (fields: object) => warned.push(fields), error: () => {} }
  const handOvers = new HandOvers({
    handOver: async (shard) => {
      made.push(shard)
      if (shard === 2) throw new Error('no peer took it')
    },
    log,
  })
  const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z']
  handOvers.begin([{ number: 1 }, { number: 2, handOver: first }])
  handOvers.begin([{ number: 1 }, { number: 2, handOver: first }])
  handOvers.begin([{ number: 1, handOver: first }, { number: 2 }])
  handOvers.begin([{ number: 2, handOver: second }])
  expect(handOvers.isUnderWay(2)).toBe(true)
  await expect.poll(() => handOvers.isUnderWay(2)).toBe(false)
  expect(made).toEqual([2, 1, 2])
  expect(warned).toHaveLength(2)
})
