import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { orderedId } from './ordered-id.ts'

test('an id begins with its time, and keeps what is random', () => {
  expect(orderedId('919108f7-52d1-4320-9bac-f847db4148a8', Date.parse('2022-02-22T19:22:22.000Z'))).toBe(
    '017f22e2-79b0-7320-9bac-f847db4148a8',
  )
})

test('later ids sort behind earlier ones, and ids of one moment differ', () => {
  const times = [0, 1, 255, 256, Date.now(), Date.now() + 1]
  const ids = times.map((nowMs) => orderedId(randomUUID(), nowMs))
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(Array.from({ length: 100 }, () => orderedId(randomUUID(), 1))).size).toBe(100)
})
