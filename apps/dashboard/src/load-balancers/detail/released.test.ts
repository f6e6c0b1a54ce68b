import type { Listener, Pool, Vip } from '@spout/model'
import { expect, it } from 'vitest'
import { releasedWith } from './released.ts'

it('says what a deletion releases, and which certificates stay', () => {
  const released = releasedWith({
    vips: [{ address: '198.51.100.7' } as Vip],
    dnsNames: ['shop.example.com'],
    listeners: [
      { tls: { certificateIds: ['c1', 'c2'], clientCertificates: { caCertificateId: 'ca' } } } as unknown as Listener,
      { tls: { certificateIds: ['c1'], clientCertificates: null } } as unknown as Listener,
      { tls: null } as Listener,
    ],
    pools: [{ members: [{}, {}], tls: { caCertificateId: 'ca2', clientCertificateId: null } } as unknown as Pool],
  })
  expect(released).toEqual({
    addresses: ['198.51.100.7'],
    names: ['shop.example.com'],
    parts: '3 listeners, 1 pool, 2 members',
    certificateIds: ['c1', 'c2', 'ca', 'ca2'],
  })
})
