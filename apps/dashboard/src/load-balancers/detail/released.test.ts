import type { Listener, Pool } from '@spout/model'
import { expect, it } from 'vitest'
import { releasedWith } from './released.ts'

it('says what a deletion releases, and which certificates stay', () => {
  const released = releasedWith({
    listeners: [
      { tls: { certificateIds: ['c1', 'c2'], clientCertificates: { caCertificateId: 'ca' } } } as unknown as Listener,
      { tls: { certificateIds: ['c1'], clientCertificates: null } } as unknown as Listener,
      { tls: null } as Listener,
    ],
    pools: [{ members: [{}, {}], tls: { caCertificateId: 'ca2', clientCertificateId: null } } as unknown as Pool],
  })
  expect(released).toEqual({
    parts: '3 listeners, 1 pool, 2 members',
    certificateIds: ['c1', 'c2', 'ca', 'ca2'],
  })
})
