import { expect, test } from 'vitest'
import { parseAs } from '../parsing/parse.ts'
import { forwardAction } from './http-route.ts'

const parsed = (timeouts: unknown) =>
  parseAs(
    forwardAction,
    { type: 'forward', pools: [{ poolId: '00000000-0000-4000-8000-000000000001' }], timeouts },
    'action',
  ).timeouts

test.each([
  [{ requestMs: 500 }, { requestMs: 500, backendRequestMs: null }],
  [
    { requestMs: 0, backendRequestMs: 90_000 },
    { requestMs: 0, backendRequestMs: 90_000 },
  ],
  [
    { requestMs: 500, backendRequestMs: 500 },
    { requestMs: 500, backendRequestMs: 500 },
  ],
  [{ backendRequestMs: 0 }, { requestMs: null, backendRequestMs: 0 }],
])('time-outs of a route, accepted: %j', (given, result) => expect(parsed(given)).toEqual(result))

test.each<readonly [unknown, string]>([
  [{}, 'action.timeouts: must name requestMs or backendRequestMs'],
  [{ requestMs: 500, backendRequestMs: 501 }, 'action.timeouts.backendRequestMs: is longer than requestMs'],
  [{ requestMs: -1 }, 'action.timeouts.requestMs'],
  [{ requestMs: 0.5 }, 'action.timeouts.requestMs'],
  [{ requestMs: '1s' }, 'action.timeouts.requestMs'],
  [{ backendRequestMs: 86_400_001 }, 'action.timeouts.backendRequestMs'],
  [{ idleMs: 1 }, 'idleMs'],
])('time-outs of a route, refused: %j', (given, reason) => expect(() => parsed(given)).toThrow(reason))
