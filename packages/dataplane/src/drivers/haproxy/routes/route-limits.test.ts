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

test('a route with retries', () => {
  const retry = { attempts: 2, codes: [429, 503], backoffMs: 100 }
  expect(limitsOf({ retry })).toEqual({ retries: 2, codes: '.429.503.', 'back-off': 100 })
  expect(limitsOf({ retry: { attempts: 1, codes: [], backoffMs: 0 } })).toEqual({ retries: 1, codes: '.' })
  const timeouts = { requestMs: 500, backendRequestMs: null }
  expect(limitsOf({ timeouts, retry })).toMatchObject({ attempt: 500, deadline: 500, retries: 2 })
})

test('a route with a rate of clients', () => {
  expect(limitsOf({ clientRate: { requests: 10, perSeconds: 60, burst: 5 } })).toEqual({ rate: '10/60/5' })
  expect(() => limitsOf({ clientRate: { requests: 0.5, perSeconds: 60, burst: 5 } })).toThrow(RangeError)
})

test('a route with a limit of requests at once', () => {
  expect(limitsOf({ clientConcurrency: 5 })).toEqual({ 'at-once': 5 })
  expect(() => limitsOf({ clientConcurrency: 0 })).toThrow(RangeError)
})

test('a route with a limit of bodies', () => {
  expect(limitsOf({ maxBodyBytes: 0 })).toEqual({ body: 0 })
  expect(() => limitsOf({ maxBodyBytes: -1 })).toThrow(RangeError)
})

test.each([{ attempts: 0 }, { attempts: 6 }, { codes: [200] }, { backoffMs: -1 }])('no retries: %j', (change) => {
  expect(() => limitsOf({ retry: { attempts: 1, codes: [], backoffMs: 0, ...change } })).toThrow(RangeError)
})

test.each([-5, 1.5])('no limit: %s', (backendRequestMs) => {
  expect(() => limitsOf({ timeouts: { requestMs: null, backendRequestMs } })).toThrow(RangeError)
})
