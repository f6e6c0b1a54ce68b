import { expect, test } from 'vitest'
import { http } from '../testing/objects.ts'
import { isUsable, judgeListeners } from './listeners.ts'

const ROUTES = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }]

test('listeners of one port with other names do not exclude each other', () => {
  const judged = judgeListeners([http('a', { hostname: 'a.com' }), http('b', { hostname: '*.a.com' }), http('c')])
  expect(judged.map(isUsable)).toEqual([true, true, true])
  expect(judged[0]?.kinds).toEqual(ROUTES)
})

test.each([
  [
    'the same name in another case',
    http('a', { hostname: 'A.com' }),
    http('b', { hostname: 'a.com' }),
    'HostnameConflict',
  ],
  ['no name twice', http('a'), http('b'), 'HostnameConflict'],
  ['another protocol', http('a'), http('b', { hostname: 'a.com', protocol: 'HTTPS' }), 'ProtocolConflict'],
])('both of two listeners that exclude each other say so: %s', (_, one, other, reason) => {
  const judged = judgeListeners([one, other, http('c', { port: 8080 })])
  expect(judged.map(({ conflict }) => conflict?.reason)).toEqual([reason, reason, undefined])
})

test('a TCP and a UDP listener of one number do not conflict', () => {
  const judged = judgeListeners([http('a', { protocol: 'TCP' }), http('b', { protocol: 'UDP' })])
  expect(judged.map(({ conflict }) => conflict)).toEqual([null, null])
})

test.each([
  ['an unknown protocol', http('a', { protocol: 'example.com/odd' }), 'UnsupportedProtocol', undefined, []],
  [
    'nine labels behind an asterisk',
    http('a', { hostname: '*.1.2.3.4.5.6.7.8.9' }),
    'UnsupportedValue',
    undefined,
    ROUTES,
  ],
  [
    'a kind that cannot attach',
    http('a', { allowedRoutes: { kinds: [{ kind: 'TCPRoute' }] } }),
    undefined,
    'InvalidRouteKinds',
    [],
  ],
  [
    'one kind that can and one that cannot',
    http('a', { allowedRoutes: { kinds: [{ kind: 'HTTPRoute' }, { group: 'x.org', kind: 'HTTPRoute' }] } }),
    undefined,
    'InvalidRouteKinds',
    ROUTES,
  ],
])('%s', (_, listener, refused, unresolved, kinds) => {
  const [judged] = judgeListeners([listener])
  expect([judged?.refused?.reason, judged?.unresolved?.reason]).toEqual([refused, unresolved])
  expect(judged?.kinds).toEqual(kinds)
})
