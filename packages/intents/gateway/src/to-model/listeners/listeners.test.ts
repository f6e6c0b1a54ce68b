import { describe, expect, test } from 'vitest'
import type { ReferenceGrant } from '../../objects/reference-grant.ts'
import { gatewayWith, grantOf, http, surroundingsOf, TLS_ID } from '../../testing/objects.ts'
import { certificateResolver, secretsOf } from './certificates.ts'
import { isUsable, judgeListeners } from './listeners.ts'

const [ROUTES, EVERY] = [['HTTPRoute'], ['HTTPRoute', 'GRPCRoute']].map((kinds) =>
  kinds.map((kind) => ({ group: 'gateway.networking.k8s.io', kind })),
)

test('listeners of one port with other names do not exclude each other', () => {
  const judged = judgeListeners([http('a', { hostname: 'a.com' }), http('b', { hostname: '*.a.com' }), http('c')])
  expect(judged.map(isUsable)).toEqual([true, true, true])
  expect(judged[0]?.kinds).toEqual(EVERY)
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
  ['no host name', http('a', { hostname: 'a b.example.org' }), 'UnsupportedValue', undefined, EVERY],
  [
    'nine labels behind an asterisk',
    http('a', { hostname: '*.1.2.3.4.5.6.7.8.9' }),
    'UnsupportedValue',
    undefined,
    EVERY,
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

describe('HTTPS', () => {
  const https = (tls?: object) => http('a', { protocol: 'HTTPS', port: 443, ...(tls === undefined ? {} : { tls }) })
  const tls = { name: 'tls' }
  const judge = (listener: ReturnType<typeof https>, grants: readonly ReferenceGrant[] = []) => {
    const gateway = gatewayWith([listener])
    const { certificateOf } = surroundingsOf()
    return judgeListeners([listener], { certificate: certificateResolver(gateway, grants, certificateOf) })[0]!
  }

  test('a certificate for another host is shown: the API has no condition for it', () => {
    const own = { ...https({ certificateRefs: [tls] }), hostname: 'a.example.org' }
    const certificate = { id: TLS_ID, name: 'shop/tls', tags: [], names: ['other.example.org'] }
    const resolve = certificateResolver(gatewayWith([own]), [], () => ({ type: 'ready', certificate, notice: null }))
    expect(judgeListeners([own], { certificate: resolve })).toMatchObject([
      { refused: null, unresolved: null, certificateIds: [TLS_ID] },
    ])
  })

  test('a Secret of its namespace, and one that a grant allows', () => {
    expect(judge(https({ certificateRefs: [tls, tls] }))).toMatchObject({ unresolved: null, certificateIds: [TLS_ID] })
    const far = https({ certificateRefs: [{ name: 'tls', namespace: 'other' }] })
    expect(judge(far).unresolved?.reason).toBe('RefNotPermitted')
    expect(isUsable(judge(far, [grantOf('other', 'shop', { kind: 'Secret' })]))).toBe(true)
  })

  test.each([
    ['no TLS at all', undefined, 'InvalidCertificateRef'],
    ['no reference', { certificateRefs: [] }, 'InvalidCertificateRef'],
    ['a Secret that does not exist', { certificateRefs: [{ name: 'x' }] }, 'InvalidCertificateRef'],
    ['a good and a bad one', { certificateRefs: [tls, { name: 'x' }] }, 'InvalidCertificateRef'],
    ['another kind', { certificateRefs: [{ ...tls, kind: 'ConfigMap' }] }, 'InvalidCertificateRef'],
    ['another group', { certificateRefs: [{ ...tls, group: 'x.org' }] }, 'InvalidCertificateRef'],
  ])('does not resolve: %s', (_, own, reason) => {
    expect(judge(https(own)).unresolved?.reason).toBe(reason)
  })

  test('does not pass TLS on', () => {
    expect(judge(https({ mode: 'Passthrough' })).refused?.reason).toBe('UnsupportedValue')
  })

  test('only Secrets that a Gateway may name are read', () => {
    const gateway = gatewayWith([https({ certificateRefs: [tls, { name: 'tls', namespace: 'other' }] }), http('b')])
    expect([...secretsOf(gateway, [])]).toEqual(['shop/tls'])
    const grants = [grantOf('other', 'shop', { kind: 'Secret' })]
    expect([...secretsOf(gateway, grants)]).toEqual(['shop/tls', 'other/tls'])
  })
})
