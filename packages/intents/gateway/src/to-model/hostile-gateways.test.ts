import { poolTls } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { HOSTILE } from '../../../../connector/src/testing/hostile-texts.ts'
import {
  expectHarmless,
  expectHarmlessIn,
  expectPrintable,
  expectSayable,
  good,
  surroundings,
  young,
} from '../testing/expect-harmless.ts'
import {
  connectionRoute,
  gatewayWith,
  http,
  listener,
  serviceOf,
  setWith,
  surroundingsOf,
  to,
} from '../testing/objects.ts'
import { judgePolicy } from './backends/backend-tls.ts'
import { compileGateway } from './gateways/compile-gateway.ts'

describe('hostile text is refused or harmless, and nobody else changes', () => {
  test('in listeners of the Gateway', () => {
    for (const text of HOSTILE)
      for (const more of [
        http(text, { port: 81 }),
        http('other', { hostname: text, port: 81 }),
        listener('other', text, 81),
        http('other', { protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: text }] } }),
        http('other', { port: 81, allowedRoutes: { kinds: [{ kind: text, group: text }] } }),
      ])
        expectHarmless(gatewayWith([http('web'), more]))
  })

  test('in what the Gateway as a whole says', () => {
    for (const text of HOSTILE)
      for (const spec of [
        { infrastructure: { labels: { [text]: 'x', y: text } } },
        { infrastructure: { annotations: { [text]: text } } },
        { tls: { backend: { clientCertificateRef: { name: text } } } },
        { tls: { backend: { clientCertificateRef: { name: 'tls', namespace: text } } } },
        { tls: { backend: { clientCertificateRef: { name: 'tls', kind: text, group: text } } } },
        { allowedListeners: { namespaces: { from: text } } },
        { allowedListeners: { namespaces: { from: 'Selector', selector: { matchLabels: { [text]: text } } } } },
      ])
        expectHarmless(gatewayWith([http('web')], spec))
  })

  test('in how its listeners ask clients for certificates', () => {
    for (const text of HOSTILE)
      for (const ref of [
        { name: text, kind: 'ConfigMap' },
        { name: 'ca', kind: 'ConfigMap', namespace: text },
        { name: 'ca', kind: text, group: text },
      ]) {
        const frontend = { default: { validation: { caCertificateRefs: [ref] } } }
        const https = http('other', { protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: 'tls' }] } })
        expectHarmless(gatewayWith([http('web'), https], { tls: { frontend } }))
      }
  })

  test('in ListenerSets', () => {
    for (const text of HOSTILE)
      for (const set of [
        setWith('more', [http(text, { port: 81 })]),
        setWith('more', [http('other', { hostname: text, port: 81 })]),
        setWith('more', [listener('other', text, 81)]),
        setWith('more', [http('other', { protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: text }] } })]),
      ])
        expectHarmlessIn(
          surroundingsOf([serviceOf('web')], [], {}, [set]),
          gatewayWith([http('web')], { allowedListeners: { namespaces: { from: 'Same' } } }),
        )
  })

  test('in routes of whole connections', () => {
    const gateway = gatewayWith([
      http('web'),
      listener('tls', 'TLS', 443),
      listener('tcp', 'TCP', 81),
      listener('udp', 'UDP', 82),
    ])
    for (const text of HOSTILE) {
      expectHarmless(gateway, connectionRoute('TLSRoute', [to('web')], young, { hostnames: [text] }))
      for (const kind of ['TLSRoute', 'TCPRoute', 'UDPRoute'] as const) {
        expectHarmless(gateway, connectionRoute(kind, [to(text)], young, { hostnames: ['a.example.org'] }))
        expectHarmless(gateway, connectionRoute(kind, [to('web', { namespace: text })], young))
      }
    }
  })

  test('in the addresses that it asks for, which are then refused', () => {
    for (const text of HOSTILE)
      for (const address of [{ type: text }, { type: 'IPAddress', value: text }]) {
        const gateway = gatewayWith([http('web')], { addresses: [address] })
        const made = compileGateway(gateway, [good], surroundings)
        expect(made.refused?.reason).toBe('UnsupportedAddress')
        expect(made.wanted).toBeNull()
        expectSayable(gateway, made)
      }
  })

  test('in a BackendTLSPolicy: it verifies by that name, or is not valid', () => {
    for (const text of HOSTILE)
      for (const validation of [
        { hostname: text, caCertificateRefs: [{ kind: 'ConfigMap', name: 'tls' }] },
        { hostname: 'a.example.org', caCertificateRefs: [{ kind: 'ConfigMap', name: text }] },
        { hostname: 'a.example.org', caCertificateRefs: [{ kind: text, group: text, name: 'tls' }] },
        { hostname: 'a.example.org', wellKnownCACertificates: text },
        { hostname: 'a.example.org', subjectAltNames: [{ type: 'URI', uri: text }] },
      ]) {
        const metadata = { name: 'p', namespace: 'shop', uid: 'u' }
        const targetRefs = [{ group: '', kind: 'Service', name: 'web' }]
        const policy = { metadata, spec: { targetRefs, validation } }
        const { tls, refused, unresolved } = judgePolicy(policy, [policy], surroundings.certificateOf)
        for (const one of [refused, unresolved]) expectPrintable(one?.message ?? '')
        if (tls !== null) expect(poolTls.safeParse({ serverName: tls.serverName }).success).toBe(true)
      }
  })
})
