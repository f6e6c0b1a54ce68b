import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, test } from 'vitest'
import { RightOfWay } from './right-of-way.ts'

let clock: FakeClock
let ways: RightOfWay
beforeEach(() => {
  clock = new FakeClock()
  ways = new RightOfWay(clock, (line) => line !== 'stranger')
})
/** @param waiting how many requests of each line arrive and wait */
const held = (waiting: Readonly<Record<string, number>>) => {
  for (const [line, count] of Object.entries(waiting)) for (let n = 1; n <= count; n++) ways.arrive(line, n)
  return [...ways.held(Object.keys(waiting))]
}
const start = (line: string) => {
  ways.arrive(line, 1)
  return ways.begin(line)
}

describe('the line with fewest requests goes ahead', () => {
  test('until its request is answered', () => {
    expect(held({ busy: 30, quiet: 1 })).toEqual(['busy'])
    const answered = start('quiet')
    expect(held({ busy: 30, other: 1 })).toEqual(['busy'])
    answered()
    expect(held({ busy: 30 })).toEqual([])
  })

  test('requests that are under way count like those that wait', () => {
    start('quiet')
    for (let n = 0; n < 3; n++) start('busy')
    expect(held({ busy: 1, quiet: 2 })).toEqual(['busy'])
    expect(held({ busy: 1, quiet: 3 })).toEqual([])
    expect(held({ busy: 1, quiet: 9 })).toEqual(['quiet'])
  })

  test('one that had more a moment ago stays behind, and not for ever', async () => {
    for (const answered of [start('busy'), start('busy')]) answered()
    expect(held({ busy: 1, quiet: 1 })).toEqual(['busy'])
    await clock.advance(1000)
    expect(held({ busy: 1, quiet: 1 })).toEqual([])
  })

  test('not for long: a watch is under way for days', async () => {
    start('quiet')
    await clock.advance(9)
    expect(held({ busy: 2 })).toEqual(['busy'])
    await clock.advance(1)
    expect(held({ busy: 2 })).toEqual([])
  })

  test('not a stranger, who can have very many addresses', () => {
    start('stranger')
    expect(held({ busy: 2 })).toEqual([])
  })
})

test('others are held for half of the time at most, however many go ahead', async () => {
  let heldMs = 0
  for (let ms = 0; ms < 1000; ms++) {
    start(`quiet${ms}`)
    if (held({ busy: 9 }).length > 0) heldMs++
    await clock.advance(1)
  }
  expect(heldMs).toBeGreaterThan(400)
  expect(heldMs).toBeLessThan(530)
})
