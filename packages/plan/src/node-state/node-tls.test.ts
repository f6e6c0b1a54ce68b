import type { ListenerTls, PoolTls } from '@spout/model'
import { expect, test } from 'vitest'
import { planPoolTls, planTls } from './node-tls.ts'

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
  expect(planTls({ tls }, (id) => `content of ${id}`)).toEqual({
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
  expect(planTls({ tls }, (id) => (id === 'b' ? 'content' : null))?.tls?.certificates).toEqual([
    { id: 'b', contentId: 'content' },
  ])
  expect(planTls({ tls }, () => null)).toBeNull()
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
  const contentIdOf = (id: string) => `content of ${id}`
  expect(planPoolTls({ tls: poolTls }, 'http', contentIdOf)).toEqual({ tls: { ...planned, alpn: ['h2', 'http/1.1'] } })
  expect(planPoolTls({ tls: poolTls }, 'tcp-proxy', contentIdOf)).toEqual({ tls: { ...planned, alpn: [] } })
  expect(planPoolTls({}, 'http', contentIdOf)).toEqual({})
})

test('nodes are told of ciphers where some are chosen', () => {
  const ciphers: NonNullable<ListenerTls['ciphers']> = ['ECDHE-RSA-AES128-GCM-SHA256', 'TLS_AES_128_GCM_SHA256']
  expect(planTls({ tls: { ...tls, ciphers } }, () => 'content')).toMatchObject({ tls: { ciphers } })
  expect(planPoolTls({ tls: { ...poolTls, ciphers } }, 'http', () => 'content')).toMatchObject({ tls: { ciphers } })
})

test('members are looked up in the lists that the pool names; without these they could be revoked ones', () => {
  const looking = { ...poolTls, crlCertificateId: 'crl' }
  expect(planPoolTls({ tls: looking }, 'http', (id) => `content of ${id}`)).toMatchObject({
    tls: { revocations: { id: 'crl', contentId: 'content of crl' } },
  })
  expect(planPoolTls({ tls: looking }, 'http', (id) => (id === 'crl' ? null : 'content'))).toBeNull()
  expect(planPoolTls({ tls: poolTls }, 'http', () => 'content')?.tls).not.toHaveProperty('revocations')
})

test.each(['ca', 'own'])('a pool without its certificate %s is not served: members could be anybody', (gone) => {
  expect(planPoolTls({ tls: poolTls }, 'http', (id) => (id === gone ? null : 'content'))).toBeNull()
})

test('clients are asked for certificates of the present authorities; without these the listener is not served', () => {
  const asking = { ...tls, clientCertificates: { caCertificateId: 'ca', required: false } }
  expect(planTls({ tls: asking }, (id) => `content of ${id}`)?.tls?.clients).toEqual({
    authorities: { id: 'ca', contentId: 'content of ca' },
    required: false,
  })
  const lenient = { ...tls, clientCertificates: { ...asking.clientCertificates, acceptInvalid: true } }
  expect(planTls({ tls: lenient }, () => 'content')?.tls?.clients?.acceptInvalid).toBe(true)
  const separate = { ...tls, separateHosts: ['a.example'] }
  expect(planTls({ tls: separate }, () => 'content')?.tls?.separateHosts).toEqual(['a.example'])
  expect(planTls({ tls }, () => 'content')?.tls).not.toHaveProperty('separateHosts')
  expect(planTls({ tls: asking }, (id) => (id === 'ca' ? null : 'content'))).toBeNull()
})

test('they are looked up in the present lists of revoked ones; without these the listener is not served', () => {
  const clientCertificates = { caCertificateId: 'ca', required: true, crlCertificateId: 'crl' }
  const asking = { ...tls, clientCertificates }
  expect(planTls({ tls: asking }, (id) => `content of ${id}`)?.tls?.clients).toEqual({
    authorities: { id: 'ca', contentId: 'content of ca' },
    required: true,
    revocations: { id: 'crl', contentId: 'content of crl' },
  })
  expect(planTls({ tls: asking }, (id) => (id === 'crl' ? null : 'content'))).toBeNull()
  const none = { ...tls, clientCertificates: { ...clientCertificates, crlCertificateId: null } }
  expect(planTls({ tls: none }, () => 'content')?.tls?.clients).not.toHaveProperty('revocations')
})
