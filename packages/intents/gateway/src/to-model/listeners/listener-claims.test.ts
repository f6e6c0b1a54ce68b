import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { GatewayListener } from '../../objects/gateway.ts'
import type { ListenerSet } from '../../objects/listener-set.ts'
import { gatewayWith, http, setWith, surroundingsOf } from '../../testing/objects.ts'
import { compileGateway } from '../gateways/compile-gateway.ts'

/** HTTPS on port 443 with the certificate of a Secret of this name, whose parts are its names. */
const https = (hostname: string, secret: string): GatewayListener => ({
  ...http('https', { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: secret }] } }),
  ...(hostname !== '' && { hostname }),
})
const idOf = (key: string): string =>
  createHash('sha256')
    .update(key)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

function compiled(own: GatewayListener, sets: readonly ListenerSet[]) {
  const gateway = gatewayWith([own], { allowedListeners: { namespaces: { from: 'All' } } })
  return compileGateway(gateway, [], {
    ...surroundingsOf([], [], {}, sets),
    certificateOf: (key) => {
      const names = key.slice(key.indexOf('/') + 1).split(',')
      return { type: 'ready', certificate: { id: idOf(key), name: key, tags: [], names }, notice: null }
    },
  })
}
const shown = (made: ReturnType<typeof compiled>) => made.wanted?.content.listeners[0]?.tls?.certificateIds
const said = (made: ReturnType<typeof compiled>) =>
  made.sets.map(({ listeners }) => listeners.map(({ judged }) => judged.unresolved?.reason ?? 'shown').join())

test.each([
  ['its own names', 'shop.org', 'team.org', 'team.org', 'shown'],
  ['more names, which nobody else has', 'shop.org', 'team.org', 'team.org,www.team.org', 'shown'],
  ['a name of a listener that takes all', '', 'team.org', 'team.org,www.team.org', 'shown'],
  ['a wildcard around both', 'shop.example.org', 'team.example.org', '*.example.org', 'shown'],
  ['a more specific name than that of the Gateway', '*.example.org', 'team.example.org', 'team.example.org', 'shown'],
  ['the name of the Gateway', 'shop.org', 'team.org', 'team.org,SHOP.org', 'InvalidCertificateRef'],
  ['a name below a wildcard of the Gateway', '*.shop.org', 'team.org', 'www.shop.org', 'InvalidCertificateRef'],
  ['the wildcard of the Gateway', '*.shop.org', 'team.org', '*.shop.org', 'InvalidCertificateRef'],
  ['the name of the Gateway, for a listener that takes all', 'shop.org', '', 'shop.org', 'InvalidCertificateRef'],
])('a set with a certificate for %s', (_, own, host, names, expected) => {
  const made = compiled(https(own, 'own'), [setWith('more', [https(host, names)], { namespace: 'team' })])
  expect(said(made)).toEqual([expected])
  expect(shown(made)?.includes(idOf(`team/${names}`))).toBe(expected === 'shown')
})

test('the same certificate as the Gateway has is no claim', () => {
  const made = compiled(https('shop.org', 'shop.org,team.org'), [
    setWith('more', [https('team.org', 'shop.org,team.org')]),
  ])
  expect(said(made)).toEqual(['shown'])
})

test('a later set does not take a certificate from an earlier one', () => {
  const first = setWith('first', [https('a.org', 'a.org,b.org')])
  const later = setWith('later', [https('b.org', 'b.org')], { createdAt: '2026-02-01T00:00:00Z' })
  expect(said(compiled(https('own.org', 'own.org'), [later, first]))).toEqual(['shown', 'shown'])
})

test("clients whose name no certificate has get the Gateway's own", () => {
  const sets = ['a', 'b'].map((name) => setWith(name, [https(`${name}.org`, `${name}.org`)], { namespace: name }))
  expect(shown(compiled(https('z.org', 'z.org'), sets))).toEqual(['shop/z.org', 'a/a.org', 'b/b.org'].map(idOf))
})

test('more certificates than a port can have are refused where they come, and no other listener', () => {
  const refs = Array.from({ length: 60 }, (_, at) => ({ name: `${at}.org` }))
  const many = (host: string): GatewayListener => ({ ...https(host, 'x'), tls: { certificateRefs: refs } })
  const sets = ['a', 'b', 'c'].map((name) =>
    setWith(name, [name === 'c' ? https('c.org', 'c.org') : many(`${name}.org`)], { namespace: name }),
  )
  const made = compiled(https('own.org', 'own.org'), sets)
  expect(made.sets.map(({ listeners }) => listeners[0]?.judged.refused?.reason)).toEqual([
    undefined,
    'TooManyListeners',
    undefined,
  ])
  expect(shown(made)).toHaveLength(62)
})
