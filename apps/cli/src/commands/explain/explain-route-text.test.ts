import { expect, test } from 'vitest'
import { routeLines } from './explain-route-text.ts'

test('a route says where its requests go, and where which share of them is copied', () => {
  const pools = ['web', 'next'].map((name) => ({ id: `id-${name}`, name }))
  const action = {
    type: 'forward',
    pools: [{ poolId: 'id-web', weight: 1 }],
    mirrors: [
      { poolId: 'id-next', percent: 12.5 },
      { poolId: 'gone', percent: 100 },
    ],
  }
  const route = { id: 'r', name: 'shop', enabled: true, reached: true, conditions: [], action }
  expect(routeLines([route], pools as never)).toEqual([
    '    route  shop: every request -> pool web; 12.5 % copied to pool next; 100 % copied to pool gone',
  ])
})

test('a route says how long its requests may take, and how often they are tried again', () => {
  const pools = [{ id: 'id-web', name: 'web' }]
  const textOf = (own: object) => {
    const action = { type: 'forward', pools: [{ poolId: 'id-web', weight: 1 }], ...own }
    const route = { id: 'r', name: '', enabled: true, reached: true, conditions: [], action }
    return routeLines([route], pools as never)[0]
  }
  expect(textOf({ timeouts: { requestMs: 2_000, backendRequestMs: 0 } })).toBe(
    '    route  every request -> pool web; answered within 2000 ms; each attempt without a time limit',
  )
  expect(textOf({ retry: { attempts: 2, codes: [503, 429], backoffMs: 50 } })).toBe(
    '    route  every request -> pool web; tried again up to 2 times, 50 ms apart, without a response and for 503, 429',
  )
  expect(textOf({ clientRate: { requests: 10, perSeconds: 1, burst: 50 } })).toBe(
    '    route  every request -> pool web; each client up to 10 in a second, and 50 more at once',
  )
  expect(textOf({ clientRate: { requests: 3, perSeconds: 60, burst: 0 } })).toBe(
    '    route  every request -> pool web; each client up to 3 in 60 seconds',
  )
  expect(textOf({ clientConcurrency: 5, maxBodyBytes: 1_048_576 })).toBe(
    '    route  every request -> pool web; each client up to 5 at once; bodies up to 1048576 bytes',
  )
  expect(textOf({ authorizer: { poolId: 'id-web' } })).toBe(
    '    route  every request -> pool web; if pool web allows it',
  )
  expect(textOf({ basicAuthentication: { usersId: 'any' } })).toBe(
    '    route  every request -> pool web; with the password of a user',
  )
  const both = { basicAuthentication: { usersId: 'any' }, authorizer: { poolId: 'id-web' } }
  expect(textOf(both)).toBe('    route  every request -> pool web; with the password of a user; if pool web allows it')
  expect(textOf({ ...both, satisfy: 'any' })).toBe(
    '    route  every request -> pool web; with the password of a user, or if pool web allows it',
  )
  expect(textOf({ retry: { attempts: 1, codes: [], backoffMs: 0 } })).toBe(
    '    route  every request -> pool web; tried again up to 1 time, without a response',
  )
})
