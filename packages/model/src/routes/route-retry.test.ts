import { expect, test } from 'vitest'
import { parseAs } from '../parsing/parse.ts'
import { forwardAction } from './http-route.ts'

const parsed = (retry: unknown) =>
  parseAs(
    forwardAction,
    { type: 'forward', pools: [{ poolId: '00000000-0000-4000-8000-000000000001' }], retry },
    'action',
  ).retry

test.each([
  [{ attempts: 1 }, { attempts: 1, codes: [], backoffMs: 0 }],
  [
    { attempts: 5, codes: [400, 503, 599], backoffMs: 60_000 },
    { attempts: 5, codes: [400, 503, 599], backoffMs: 60_000 },
  ],
])('retries of a route, accepted: %j', (given, result) => expect(parsed(given)).toEqual(result))

test.each<readonly [unknown, string]>([
  [{}, 'action.retry.attempts'],
  [{ attempts: 0 }, 'action.retry.attempts'],
  [{ attempts: 6 }, 'action.retry.attempts'],
  [{ attempts: 1, codes: [200] }, 'action.retry.codes[0]'],
  [{ attempts: 1, codes: [503, 503] }, 'action.retry.codes: names a code twice'],
  [{ attempts: 1, codes: Array.from({ length: 17 }, (_, at) => 500 + at) }, 'action.retry.codes'],
  [{ attempts: 1, backoffMs: 60_001 }, 'action.retry.backoffMs'],
  [{ attempts: 1, methods: ['POST'] }, 'methods'],
])('retries of a route, refused: %j', (given, reason) => expect(() => parsed(given)).toThrow(reason))
