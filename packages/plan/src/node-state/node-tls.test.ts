import type { ListenerTls, PoolTls } from '@spout/model'
import { expect, test } from 'vitest'
import { planPoolTls, planTls } from './node-tls.ts'

/** A certificate for one name, and another one for each id. */
const certificateOf = (id: string) => ({ contentId: `content of ${id}`, names: [id], keyType: 'rsa-2048' })

const tls: ListenerTls = {
  certificateIds: ['a', 'b'],
  unknownNames: 'refuse',
  minVersion: '1.3',
  ciphers: null,
  alpn: ['h2'],
  hsts: null,
  clientCertificates: null,
}

test('nodes get the certificates in order, each with its present content', () => {
  expect(planTls({ tls }, certificateOf)).toEqual({
    tls: {
      certificates: [
        { id: 'a', contentId: 'content of a' },
        { id: 'b', contentId: 'content of b' },
      ],
      unknownNames: 'refuse',
      minVersion: '1.3',
      alpn: ['h2'],
    },
  })
})

test('a certificate that is gone is left out; without any the listener cannot be served', () => {
  expect(planTls({ tls }, (id) => (id === 'b' ? certificateOf(id) : null))?.tls?.certificates).toEqual([
    { id: 'b', contentId: 'content of b' },
  ])
  expect(planTls({ tls }, () => null)).toBeNull()
})

test('of certificates with the same names nodes get the first, whichever was renewed last', () => {
  const names = new Map([
    ['first', ['*.example.org', 'example.org']],
    ['copy', ['*.EXAMPLE.org']],
    ['more', ['example.org', 'more.example.org']],
    ['ecdsa', ['*.example.org', 'example.org']],
    ['below', ['a.example.org']],
  ])
  const found = (content: string) => (id: string) => ({
    ...{ contentId: `${content} ${id}`, names: names.get(id) ?? [] },
    keyType: id === 'ecdsa' ? 'ecdsa-p256' : 'rsa-2048',
  })
  const shown = (ids: string[], content = '') =>
    planTls({ tls: { ...tls, certificateIds: ids } }, found(content))?.tls?.certificates.map(({ id }) => id)
  const all = [...names.keys()]
  expect(shown(all)).toEqual(['first', 'more', 'ecdsa', 'below'])
  expect(shown(all, 'renewed')).toEqual(shown(all))
  expect(shown(['copy', 'first'])).toEqual(['copy', 'first'])
  expect(shown(['copy', 'copy'])).toEqual(['copy'])
})

test('other listeners have none', () => {
  expect(planTls({ tls: null }, () => null)).toEqual({})
})

const poolTls: PoolTls = {
  caCertificateId: 'ca',
  serverName: 'm.example',
  clientCertificateId: 'own',
  minVersion: '1.2',
  alpn: ['h2', 'http/1.1'],
}

test('members are spoken to with the present content of certificates; application protocols are for HTTP', () => {
  const planned = {
    authorities: { id: 'ca', contentId: 'content of ca' },
    serverName: 'm.example',
    certificate: { id: 'own', contentId: 'content of own' },
    minVersion: '1.2',
  }
  expect(planPoolTls({ tls: poolTls }, 'http', certificateOf)).toEqual({
    tls: { ...planned, alpn: ['h2', 'http/1.1'] },
  })
  expect(planPoolTls({ tls: poolTls }, 'tcp-proxy', certificateOf)).toEqual({ tls: { ...planned, alpn: [] } })
  expect(planPoolTls({}, 'http', certificateOf)).toEqual({})
})

test('nodes are told of ciphers where some are chosen', () => {
  const ciphers: NonNullable<ListenerTls['ciphers']> = ['ECDHE-RSA-AES128-GCM-SHA256', 'TLS_AES_128_GCM_SHA256']
  expect(planTls({ tls: { ...tls, ciphers } }, certificateOf)).toMatchObject({ tls: { ciphers } })
  expect(planPoolTls({ tls: { ...poolTls, ciphers } }, 'http', certificateOf)).toMatchObject({ tls: { ciphers } })
})

test('members are looked up in the lists that the pool names; without these they could be revoked ones', () => {
  const looking = { ...poolTls, crlCertificateId: 'crl' }
  expect(planPoolTls({ tls: looking }, 'http', certificateOf)).toMatchObject({
    tls: { revocations: { id: 'crl', contentId: 'content of crl' } },
  })
  expect(planPoolTls({ tls: looking }, 'http', (id) => (id === 'crl' ? null : certificateOf(id)))).toBeNull()
  expect(planPoolTls({ tls: poolTls }, 'http', certificateOf)?.tls).not.toHaveProperty('revocations')
})

test.each(['ca', 'own'])('a pool without its certificate %s is not served: members could be anybody', (gone) => {
  expect(planPoolTls({ tls: poolTls }, 'http', (id) => (id === gone ? null : certificateOf(id)))).toBeNull()
})

test('clients are asked for certificates of the present authorities; without these the listener is not served', () => {
  const asking = { ...tls, clientCertificates: { caCertificateId: 'ca', required: false } }
  expect(planTls({ tls: asking }, certificateOf)?.tls?.clients).toEqual({
    authorities: { id: 'ca', contentId: 'content of ca' },
    required: false,
  })
  const lenient = { ...tls, clientCertificates: { ...asking.clientCertificates, acceptInvalid: true } }
  expect(planTls({ tls: lenient }, certificateOf)?.tls?.clients?.acceptInvalid).toBe(true)
  const separate = { ...tls, separateHosts: ['a.example'] }
  expect(planTls({ tls: separate }, certificateOf)?.tls?.separateHosts).toEqual(['a.example'])
  expect(planTls({ tls }, certificateOf)?.tls).not.toHaveProperty('separateHosts')
  expect(planTls({ tls: asking }, (id) => (id === 'ca' ? null : certificateOf(id)))).toBeNull()
})

test('they are looked up in the present lists of revoked ones; without these the listener is not served', () => {
  const clientCertificates = { caCertificateId: 'ca', required: true, crlCertificateId: 'crl' }
  const asking = { ...tls, clientCertificates }
  expect(planTls({ tls: asking }, certificateOf)?.tls?.clients).toEqual({
    authorities: { id: 'ca', contentId: 'content of ca' },
    required: true,
    revocations: { id: 'crl', contentId: 'content of crl' },
  })
  expect(planTls({ tls: asking }, (id) => (id === 'crl' ? null : certificateOf(id)))).toBeNull()
  const none = { ...tls, clientCertificates: { ...clientCertificates, crlCertificateId: null } }
  expect(planTls({ tls: none }, certificateOf)?.tls?.clients).not.toHaveProperty('revocations')
})
