import { expect, it } from 'vitest'
import type { ShownLoadBalancer } from '../../api/load-balancers.ts'
import { draftOf } from './draft-of.ts'

const document = {
  ...{ id: 'lb', name: 'shop', description: '', tags: [], enabled: false, generation: 3, networkId: 'n' },
  ...{ createdAt: '2026', updatedAt: null, status: { provisioning: 'active' }, annotations: {}, nodeGroupId: null },
  vips: [{ address: '198.51.100.7', networkId: null }],
  listeners: [{ id: 'l', name: '', allowedCidrs: [], tls: { ciphers: null, alpn: [] }, routes: [], insertHeaders: [] }],
  pools: [
    { id: 'p', createdAt: '2026', monitor: null, members: [{ id: 'm', weight: 0, monitorPort: null }] },
    { id: 'q', members: [], monitor: { type: 'tcp', http: null, createdAt: '2026' } },
  ],
} as unknown as ShownLoadBalancer

it('leaves out what the server sets and what says nothing, and keeps ids, zeros and false', () => {
  expect(draftOf(document)).toEqual({
    ...{ id: 'lb', name: 'shop', enabled: false },
    vips: [{ address: '198.51.100.7', networkId: null }],
    listeners: [{ id: 'l', allowedCidrs: [], tls: { ciphers: null, alpn: [] } }],
    pools: [
      { id: 'p', members: [{ id: 'm', weight: 0 }] },
      { id: 'q', members: [], monitor: { type: 'tcp' } },
    ],
  })
})

it('keeps an empty list that admits nobody: without it everybody would be admitted', () => {
  expect(draftOf(document)['listeners']).toMatchObject([{ allowedCidrs: [] }])
})
