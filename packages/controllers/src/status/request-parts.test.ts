import { expect, test } from 'vitest'
import { NO_PARTS, plusParts } from './request-parts.ts'

const responses = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 }
const ok = (count: number) => ({
  latencies: [[20, count]] as const,
  responses: { ...responses, '2xx': count },
})

test('parts are summed by pool and by route, whichever side has them', () => {
  const sum = plusParts(
    { pools: { a: ok(1), b: ok(2) }, routes: { r: ok(3) } },
    { pools: { b: ok(4), c: ok(5) }, routes: { other: ok(6) } },
  )
  expect(sum).toEqual({ pools: { a: ok(1), b: ok(6), c: ok(5) }, routes: { r: ok(3), other: ok(6) } })
})

test('nothing is counted by who counts nothing', () => {
  const some = { pools: { a: ok(1) }, routes: {} }
  expect(plusParts(NO_PARTS, some)).toBe(some)
  expect(plusParts(some, NO_PARTS)).toBe(some)
})
