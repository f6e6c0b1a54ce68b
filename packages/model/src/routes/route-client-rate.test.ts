import { expect, test } from 'vitest'
import { parseAs } from '../parsing/parse.ts'
import { forwardAction } from './http-route.ts'

const parsed = (clientRate: unknown) =>
  parseAs(
    forwardAction,
    { type: 'forward', pools: [{ poolId: '00000000-0000-4000-8000-000000000001' }], clientRate },
    'action',
  ).clientRate

test.each([
  [{ requests: 10 }, { requests: 10, perSeconds: 1, burst: 0 }],
  [
    { requests: 1, perSeconds: 60, burst: 5 },
    { requests: 1, perSeconds: 60, burst: 5 },
  ],
  [undefined, undefined],
])('a rate of clients, accepted: %j', (given, result) => expect(parsed(given)).toEqual(result))

test.each<readonly [unknown, string]>([
  [{}, 'action.clientRate.requests'],
  [{ requests: 0 }, 'action.clientRate.requests'],
  [{ requests: 1.5 }, 'action.clientRate.requests'],
  [{ requests: 1, perSeconds: 0 }, 'action.clientRate.perSeconds'],
  [{ requests: 1, burst: -1 }, 'action.clientRate.burst'],
  [{ requests: 1, by: 'header' }, 'by'],
])('a rate of clients, refused: %j', (given, field) => expect(() => parsed(given)).toThrow(field))
