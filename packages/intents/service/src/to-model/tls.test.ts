import type { CertificateSight } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import { endpoint, service, slice } from '../testing/objects.ts'
import { draftOf } from './draft.ts'

const SECRET = 'spout.dev/tls-secret'
const PORTS = 'spout.dev/tls-ports'
const ID = '0197f0c0-0000-7000-8000-000000000001'
const ports = [
  { name: 'https', port: 443 },
  { name: 'raw', port: 5432 },
  { name: 'dns', port: 53, protocol: 'UDP' as const },
]
const certificate = { id: ID, name: '', tags: [], names: ['shop.example'] }
const REFUSED = { reason: 'SecretNotFound', field: 'Secret shop/cert', message: 'There is none.' }
const sights: Readonly<Record<string, CertificateSight>> = {
  'shop/cert': { type: 'ready', certificate, notice: null },
  'shop/stale': { type: 'ready', certificate, notice: REFUSED },
  'shop/waits': { type: 'waits' },
}
const drafted = (annotations: Readonly<Record<string, string>>, spec: object = { ports }) =>
  draftOf(service('web', spec, { namespace: 'shop', annotations }), {
    slices: [slice('web', [endpoint('10.1.0.1')])],
    nodes: [],
    mode: 'direct',
    certificateOf: (key) => sights[key] ?? { type: 'refused', refusal: REFUSED },
  })
const listenersOf = (annotations: Readonly<Record<string, string>>) => {
  const draft = drafted(annotations)
  if ('refusal' in draft) throw new Error(draft.refusal.message)
  return draft.value.ports.map(({ port, parts }) => `${port.name} ${parts?.listener.protocol} ${parts?.pool.protocol}`)
}
const noticeOf = (annotations: Readonly<Record<string, string>>) => {
  const draft = drafted(annotations)
  return 'value' in draft ? draft.value.notice : draft.refusal
}

describe('spout.dev/tls-secret', () => {
  test.each<[string, Record<string, string>, readonly string[]]>([
    ['all TCP ports', { [SECRET]: 'cert' }, ['https tls tcp-proxy', 'raw tls tcp-proxy', 'dns udp udp']],
    ['a port by name', { [SECRET]: 'cert', [PORTS]: 'https' }, ['https tls tcp-proxy', 'raw tcp tcp', 'dns udp udp']],
    ['ports by number', { [SECRET]: 'cert', [PORTS]: '5432' }, ['https tcp tcp', 'raw tls tcp-proxy', 'dns udp udp']],
    [
      'with the PROXY protocol',
      { [SECRET]: 'cert', [PORTS]: 'https', 'spout.dev/proxy-protocol': 'v2' },
      ['https tls tcp-proxy-v2', 'raw tcp-proxy tcp-proxy-v2', 'dns udp udp'],
    ],
    ['none', {}, ['https tcp tcp', 'raw tcp tcp', 'dns udp udp']],
  ])('%s', (_, annotations, wanted) => {
    expect([...listenersOf(annotations)].sort()).toEqual([...wanted].sort())
  })

  test('its pods must come through the load balancer, too, although a port of it ends no TLS', () => {
    const draft = drafted({ [SECRET]: 'cert', [PORTS]: 'https' })
    expect('value' in draft && draft.value.ipMode).toBe('Proxy')
    const plain = drafted({})
    expect('value' in plain && plain.value.ipMode).toBe('VIP')
  })

  test('the certificate is that of the Secret', () => {
    const draft = drafted({ [SECRET]: 'cert', [PORTS]: 'https' })
    const tls = 'value' in draft ? draft.value.ports.flatMap(({ parts }) => parts?.listener.tls ?? []) : []
    expect(tls).toMatchObject([{ certificateIds: [ID], alpn: [] }])
  })

  test.each<[string, Record<string, string>, string, string]>([
    ['UDP ports that cannot', { [SECRET]: 'cert' }, 'TlsIgnored', 'udp/53'],
    ['a Secret that became unusable', { [SECRET]: 'stale', [PORTS]: 'https' }, 'SecretNotFound', 'There is none.'],
    ['a missing Secret', { [SECRET]: 'missing' }, 'SecretNotFound', 'There is none.'],
    ['a Secret that is being read', { [SECRET]: 'waits' }, 'TlsSecretAwaited', 'being read'],
    ['an unknown port', { [SECRET]: 'cert', [PORTS]: 'https,smtp' }, 'InvalidAnnotation', 'smtp'],
    ['a UDP port', { [SECRET]: 'cert', [PORTS]: 'dns' }, 'InvalidAnnotation', 'dns'],
    ['ports without a Secret', { [PORTS]: 'https' }, 'InvalidAnnotation', SECRET],
  ])('says %s', (_, annotations, reason, message) => {
    expect(noticeOf(annotations)).toMatchObject({ reason, message: expect.stringContaining(message) })
  })
})
