import type { AccessLog } from '@spout/model/access-log'
import { expect, test } from 'vitest'
import { planSyslog } from './node-tls.ts'

const target = { address: '10.0.0.9', port: 6514, transport: 'tls' } as const
const tls = { caCertificateId: 'ca', serverName: 'logs.example', clientCertificateId: 'own' }
const contents = (...known: readonly string[]) => {
  return (id: string) => (known.includes(id) ? { contentId: `content-${id}`, names: [], keyType: 'none' } : null)
}

test('nodes are told of the content of certificates', () => {
  const syslog: NonNullable<AccessLog['syslog']> = { ...target, tls }
  expect(planSyslog(syslog, contents('ca', 'own'))).toEqual({
    ...target,
    tls: {
      ...{ authorities: { id: 'ca', contentId: 'content-ca' }, serverName: 'logs.example' },
      certificate: { id: 'own', contentId: 'content-own' },
    },
  })
  expect(planSyslog({ ...target, tls: { ...tls, clientCertificateId: null } }, contents('ca'))?.tls).toMatchObject({
    certificate: null,
  })
})

test.each([[['own']], [['ca']], [[]]])('lines go nowhere while a certificate is gone: only %j are there', (known) => {
  expect(planSyslog({ ...target, tls }, contents(...known))).toBeNull()
})

test('a receiver without TLS is as it was written', () => {
  const plain = { address: '10.0.0.9', port: 514, transport: 'udp' } as const
  expect(planSyslog(plain, contents())).toEqual(plain)
})
