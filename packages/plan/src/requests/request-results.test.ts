import { type RedirectAction, redirectAction } from '@spout/model'
import { expect, test } from 'vitest'
import { redirectLocation } from './redirect-location.ts'
import { requestShares } from './request-shares.ts'

test('shares of pools and of what the proxy answers are parts of one whole', () => {
  const pools = [
    { poolId: 'a', weight: 3 },
    { poolId: 'b', weight: 0 },
  ]
  expect(requestShares({ type: 'forward', pools, answered: { code: 503, weight: 1 } })).toEqual([
    { is: 'pool', poolId: 'a', percent: 75, filters: undefined },
    { is: 'pool', poolId: 'b', percent: 0, filters: undefined },
    { is: 'answered', code: 503, percent: 25 },
  ])
})

test('a redirect takes from the request what it does not set', () => {
  const request = { host: 'Shop.example.com:8080', path: '/old/a', query: 'b=1' }
  const to = (own: Partial<RedirectAction>, scheme: 'http' | 'https' = 'http') =>
    redirectLocation(redirectAction.parse({ type: 'redirect', code: 302, ...own }), request, scheme)
  expect(to({ scheme: 'https' })).toBe('https://Shop.example.com/old/a?b=1')
  expect(
    redirectLocation(redirectAction.parse({ type: 'redirect', code: 301 }), { ...request, host: null }, 'https'),
  ).toBe('https://(host)/old/a?b=1')
  expect(to({ port: 8443 }, 'https')).toBe('https://Shop.example.com:8443/old/a?b=1')
  expect(to({ host: 'new.example.com', path: '/x?y' })).toBe('http://new.example.com/x?y')
  expect(to({ pathPrefix: '/v2' })).toBe('http://Shop.example.com/v2/old/a?b=1')
  expect(to({ prefix: { from: '/old/', to: '/new' } })).toBe('http://Shop.example.com/new/a?b=1')
  expect(to({ prefix: { from: '/old/a', to: '/' } })).toBe('http://Shop.example.com/?b=1')
  expect(to({ prefix: { from: '/ol', to: '/new' } })).toBe('http://Shop.example.com/old/a?b=1')
})
