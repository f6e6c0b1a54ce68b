import type { ListenerTls } from '@spout/model'
import { expect, test } from 'vitest'
import { planTls } from './node-tls.ts'

const tls: ListenerTls = {
  certificateIds: ['a', 'b'],
  unknownNames: 'refuse',
  minVersion: '1.3',
  alpn: ['h2'],
  hsts: null,
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
