import { expect, test } from 'vitest'
import { OneARound } from './one-a-round.ts'

const round = () => new Promise<void>((resolve) => setImmediate(resolve))

test('each line goes on once a round, in order, and the first of a round at once', async () => {
  const turns = new OneARound({ mostOfRound: 8 })
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
  const turns = new OneARound({ mostOfRound: 8 })
  await turns.turn('a')
  let went = false
  const second = turns.turn('a').then(() => {
    went = true
  })
  await Promise.resolve()
  expect(went).toBe(false)
  await second
})

test('few lines go on in a round, those that waited longest first', async () => {
  const turns = new OneARound({ mostOfRound: 2 })
  const went: string[] = []
  for (const line of ['a', 'b', 'c', 'd', 'e'])
    for (const n of [1, 2]) turns.begin(line, () => went.push(`${line}${n}`))
  const rounds: string[] = []
  for (let at = 0; at < 5; at++) {
    rounds.push(went.splice(0).join(' '))
    await round()
  }
  expect(rounds).toEqual(['a1 b1', 'a2 b2', 'c1 d1', 'e1 c2', 'd2 e2'])
})

test('a line of one goes ahead of lines of many, which have their turns', async () => {
  const turns = new OneARound({ mostOfRound: 2 })
  const went: string[] = []
  const begin = (line: string) => turns.begin(line, () => went.push(line))
  for (const line of ['a', 'b', 'c', 'd', 'e']) for (let n = 0; n < 2; n++) begin(line)
  begin('quiet')
  await round()
  expect(went).toHaveLength(4)
  expect(went).toContain('quiet')
  for (let n = 0; n < 5; n++) await round()
  expect(went).toHaveLength(11)
})
