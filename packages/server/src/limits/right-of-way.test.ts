import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, test } from 'vitest'
import { RightOfWay } from './right-of-way.ts'

let clock: FakeClock
let ways: RightOfWay
beforeEach(() => {
  clock = new FakeClock()
  ways = new RightOfWay(clock, (line) => line !== 'stranger')
})
const held = (waiting: Readonly<Record<string, number>>) => [...ways.held(new Map(Object.entries(waiting)))]

describe('the line with fewest requests goes ahead', () => {
  test('until its request is answered', () => {
    expect(held({ busy: 30, quiet: 1 })).toEqual(['busy'])
    const answered = ways.begin('quiet')
    expect(held({ busy: 30, other: 1 })).toEqual(['busy'])
    answered()
    expect(held({ busy: 30 })).toEqual([])
  })

  test('requests that are under way count like those that wait', () => {
    ways.begin('quiet')
    for (let n = 0; n < 3; n++) ways.begin('busy')
    expect(held({ busy: 1, quiet: 2 })).toEqual(['busy'])
    expect(held({ busy: 1, quiet: 3 })).toEqual([])
    expect(held({ busy: 1, quiet: 9 })).toEqual(['quiet'])
  })

  test('not for long: a watch is under way for days', async () => {
    ways.begin('quiet')
    await clock.advance(9)
    expect(held({ busy: 2 })).toEqual(['busy'])
    await clock.advance(1)
    expect(held({ busy: 2 })).toEqual([])
  })

  test('not a stranger, who can have very many addresses', () => {
    ways.begin('stranger')
    expect(held({ busy: 2 })).toEqual([])
  })
})

test('others are held for half of the time at most, however many go ahead', async () => {
  let heldMs = 0
  for (let ms = 0; ms < 1000; ms++) {
    ways.begin(`quiet${ms}`)
    if (held({ busy: 9 }).length > 0) heldMs++
    await clock.advance(1)
  }
  expect(heldMs).toBeGreaterThan(400)
  expect(heldMs).toBeLessThan(530)
})
