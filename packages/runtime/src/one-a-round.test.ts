import { expect, test } from 'vitest'
import { OneARound } from './one-a-round.ts'

const round = () => new Promise<void>((resolve) => setImmediate(resolve))

test('each line goes on once a round, in order, and the first of a round at once', async () => {
  const turns = new OneARound()
  const went: string[] = []
  const begin = (line: string, name: string) => turns.begin(line, () => went.push(name))
  for (const n of [1, 2, 3]) begin('busy', `busy${n}`)
  begin('other', 'other1')
  expect(went).toEqual(['busy1', 'other1'])
  await round()
  expect(went.slice(2)).toEqual(['busy2'])
  begin('other', 'other2')
  begin('busy', 'busy4')
  expect(went.slice(3)).toEqual(['other2'])
  await round()
  expect(went.slice(4)).toEqual(['busy3'])
  await round()
  expect(went.slice(5)).toEqual(['busy4'])
  await round()
  begin('busy', 'busy5')
  expect(went.slice(6)).toEqual(['busy5'])
})

test('a turn is a promise, too', async () => {
  const turns = new OneARound()
  await turns.turn('a')
  let went = false
  const second = turns.turn('a').then(() => {
    went = true
  })
  await Promise.resolve()
  expect(went).toBe(false)
  await second
})
