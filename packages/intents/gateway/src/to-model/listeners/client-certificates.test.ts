import type { CertificateSight } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import type { FrontendTls, Gateway } from '../../objects/gateway.ts'
import type { ListenerSet } from '../../objects/listener-set.ts'
import type { ReferenceGrant } from '../../objects/reference-grant.ts'
import { gatewayWith, grantOf, http, surroundingsOf } from '../../testing/objects.ts'
import { gatewayStatus } from '../../write-back/gateway-status.ts'
import { compileGateway } from '../gateways/compile-gateway.ts'
import { ownSecretsOf } from './certificates.ts'

const [SHOWN, CA, OTHER_CA] = [1, 2, 3].map((at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`) as [
  string,
  string,
  string,
]
const IDS: Readonly<Record<string, string>> = {
  'shop/tls': SHOWN,
  'ConfigMap/shop/ca': CA,
  'ConfigMap/far/ca': OTHER_CA,
  'ConfigMap/shop/old': OTHER_CA,
}
const NONE = { reason: 'NotFound', field: 'x', message: 'There is none.' }
const certificateOf = (key: string): CertificateSight => {
  const id = IDS[key]
  if (id === undefined) return { type: 'refused', refusal: NONE }
  const certificate = { id, name: key, tags: [], names: [] }
  return { type: 'ready', certificate, notice: key.endsWith('/old') ? NONE : null }
}

const https = (name: string, port: number) =>
  http(name, { port, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'tls' }] } })
const by = (name: string, more: object = {}): FrontendTls => ({
  validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name, ...more }] },
})
const asking = (
  frontend: NonNullable<NonNullable<Gateway['spec']['tls']>['frontend']>,
  listeners = [https('a', 443)],
) => gatewayWith(listeners, { tls: { frontend } })
const compile = (gateway: Gateway, grants: readonly ReferenceGrant[] = []) =>
  compileGateway(gateway, [], { ...surroundingsOf([], grants), certificateOf })
const asked = (gateway: Gateway, grants: readonly ReferenceGrant[] = []) =>
  (compile(gateway, grants).wanted?.content.listeners ?? []).map(({ port, tls }) => [
    port,
    tls?.clientCertificates?.caCertificateId,
  ])

const statusOf = (gateway: Gateway) =>
  gatewayStatus(
    gateway,
    compile(gateway),
    { progress: { type: 'programmed', notice: null }, addresses: [] },
    '2026-03-01T00:00:00Z',
  )

describe('certificates of clients', () => {
  test('of HTTPS listeners, by their port before the default, and of no others', () => {
    const frontend = { default: by('ca'), perPort: [{ port: 8443, tls: {} }] }
    const listeners = [https('a', 443), https('b', 8443), http('c', { port: 80 })]
    expect(asked(asking(frontend, listeners))).toEqual([
      [80, undefined],
      [443, CA],
      [8443, undefined],
    ])
    const far = { default: {}, perPort: [{ port: 8443, tls: by('ca', { namespace: 'far' }) }] }
    expect(asked(asking(far, listeners), [grantOf('far', 'shop', { kind: 'ConfigMap', name: 'ca' })])).toEqual([
      [80, undefined],
      [443, undefined],
      [8443, OTHER_CA],
    ])
  })

  test('are required', () => {
    const { wanted } = compile(asking({ default: by('ca') }))
    expect(wanted?.content.listeners[0]?.tls?.clientCertificates?.required).toBe(true)
  })

  test.each([
    ['no ConfigMap', by('missing'), 'InvalidCACertificateRef'],
    ['one that holds no authorities any more', by('old'), 'InvalidCACertificateRef'],
    ['another kind', by('ca', { kind: 'Service' }), 'InvalidCACertificateKind'],
    ['another group', by('ca', { group: 'x.org' }), 'InvalidCACertificateKind'],
    ['no grant', by('ca', { namespace: 'far' }), 'RefNotPermitted'],
    [
      'two',
      {
        validation: {
          caCertificateRefs: [...by('ca').validation!.caCertificateRefs, { kind: 'ConfigMap', name: 'b' }],
        },
      },
      'InvalidCACertificateRef',
    ],
  ])('a listener without its authorities is not served, others are: %s', (_, wrong, reason) => {
    const gateway = asking({ default: {}, perPort: [{ port: 443, tls: wrong }] }, [https('a', 443), https('b', 8443)])
    const compiled = compile(gateway)
    expect(compiled.wanted?.content.listeners.map(({ port }) => port)).toEqual([8443])
    const { conditions, listeners } = statusOf(gateway)
    const shown = Object.fromEntries(
      (listeners[0]?.conditions ?? []).map((one) => [one.type, `${one.status} ${one.reason}`]),
    )
    expect(shown).toMatchObject({
      Accepted: 'False NoValidCACertificate',
      ResolvedRefs: `False ${reason}`,
      Programmed: 'False Invalid',
    })
    expect(conditions.find(({ type }) => type === 'ResolvedRefs')).toMatchObject({
      status: 'False',
      reason: 'ListenersNotResolved',
    })
  })

  test('are not needed in the insecure mode, which the Gateway says while it is so', () => {
    const frontend = { default: { validation: { ...by('ca').validation!, mode: 'AllowInsecureFallback' as const } } }
    const insecure = asking(frontend)
    const compiled = compile(insecure)
    expect(compiled.wanted?.content.listeners[0]?.tls?.clientCertificates).toEqual({
      caCertificateId: CA,
      required: false,
      acceptInvalid: true,
    })
    const modeOf = (gateway: Gateway) => statusOf(gateway).conditions.find(({ type }) => type.startsWith('Insecure'))
    expect(modeOf(insecure)).toMatchObject({ status: 'True', reason: 'ConfigurationChanged' })
    expect(modeOf({ ...asking({ default: by('ca') }), status: statusOf(insecure) })).toBeUndefined()
  })

  test('only ConfigMaps that a listener needs and may name are read', () => {
    const frontend = { default: by('ca'), perPort: [{ port: 80, tls: by('unused') }] }
    expect([...ownSecretsOf(asking(frontend), [], [])]).toEqual(['ConfigMap/shop/ca'])
    expect([...ownSecretsOf(asking({ default: by('ca', { namespace: 'far' }) }), [], [])]).toEqual([])
    const set = {
      metadata: { namespace: 'other', name: 's' },
      spec: { parentRef: { name: 'shop' }, listeners: [{ name: 'late', protocol: 'HTTPS', port: 8443 }] },
    } as ListenerSet
    const late = { default: {}, perPort: [{ port: 8443, tls: by('late') }] }
    expect([...ownSecretsOf(asking(late), [set], [])]).toEqual(['ConfigMap/shop/late'])
  })
})

describe('the certificate for backends', () => {
  const showing = (ref: object) =>
    gatewayWith([http('a')], { tls: { backend: { clientCertificateRef: { name: 'tls', ...ref } } } })
  const unresolved = (ref: object, grants: readonly ReferenceGrant[] = []) => compile(showing(ref), grants).unresolved

  test('is a Secret that the Gateway may name', () => {
    expect(unresolved({})).toBeNull()
    expect(unresolved({ kind: 'ConfigMap' })?.reason).toBe('InvalidClientCertificateRef')
    expect(unresolved({ name: 'x' })).toMatchObject({
      reason: 'InvalidClientCertificateRef',
      message: 'tls.backend.clientCertificateRef: There is none.',
    })
    expect(unresolved({ namespace: 'far' })?.reason).toBe('RefNotPermitted')
    expect(unresolved({ namespace: 'far' }, [grantOf('far', 'shop', { kind: 'Secret' })])?.reason).toBe(
      'InvalidClientCertificateRef',
    )
    expect([...ownSecretsOf(showing({}), [], [])]).toEqual(['shop/tls'])
  })
})
