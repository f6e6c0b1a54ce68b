import { expect, test } from 'vitest'
import { limitsOf } from './route-limits.ts'

const UNLIMITED = 2_073_600_000

test.each([
  [null, null, null],
  [5_000, null, { attempt: 5_000, deadline: 5_000 }],
  [null, 2_000, { attempt: 2_000 }],
  [5_000, 2_000, { attempt: 2_000, deadline: 5_000 }],
  [5_000, 0, { attempt: 5_000, deadline: 5_000 }],
  [0, 2_000, { attempt: 2_000 }],
  [0, null, { attempt: UNLIMITED }],
  [null, 0, { attempt: UNLIMITED }],
] as const)('a route with %s for a request and %s for an attempt', (requestMs, backendRequestMs, limits) => {
  const timeouts = requestMs === null && backendRequestMs === null ? {} : { timeouts: { requestMs, backendRequestMs } }
  expect(limitsOf(timeouts)).toEqual(limits)
})

test.each([-5, 1.5])('no limit: %s', (backendRequestMs) => {
  expect(() => limitsOf({ timeouts: { requestMs: null, backendRequestMs } })).toThrow(RangeError)
})
