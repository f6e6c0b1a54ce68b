import { expect, it } from 'vitest'
import { carriedOver, chosenWeights, moved, percentsNow } from './choice.ts'
import type { Weighted } from './weighted.ts'

const all = (...weights: readonly number[]): readonly Weighted[] =>
  weights.map((weight, at) => ({ id: `p${at}`, name: `pool ${at}`, weight }))

it('a slider that is moved is a choice, and one that is moved back is none', () => {
  const now = all(9, 1)
  const choice = moved(null, now, 1, 25)
  expect(percentsNow(choice, now)).toEqual([75, 25])
  expect(chosenWeights(choice!)).toEqual(
    new Map([
      ['p0', 3],
      ['p1', 1],
    ]),
  )
  expect(moved(choice, now, 0, 90)).toBeNull()
})

it('stays what it was chosen from, whatever is stored meanwhile', () => {
  const choice = moved(null, all(9, 1), 1, 25)
  expect(percentsNow(choice, all(1, 1))).toEqual([75, 25])
  expect(moved(choice, all(1, 1), 1, 30)?.base).toEqual(all(9, 1))
})

it('is carried over to those that there are now', () => {
  const choice = moved(null, all(60, 30, 10), 2, 55)!
  const now = [...all(1, 1), { id: 'new', name: 'new', weight: 7 }]
  const carried = carriedOver(choice, now)!
  expect(carried.base).toEqual(now)
  expect(percentsNow(carried, now)).toEqual([67, 33, 0])
  expect(carriedOver(choice, [{ id: 'new', name: 'new', weight: 7 }])).toBeNull()
})

it('everything to one is a weight of 1, and of 0 for the others', () => {
  const weights = chosenWeights(moved(null, all(9, 1), 1, 100)!)
  expect([...weights.values()]).toEqual([0, 1])
})
