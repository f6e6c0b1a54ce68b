import type { Service } from '@spout/kube'
import { expect, test } from 'vitest'
import { dnsNamesOf } from './dns-names.ts'

const asking = (hostname: string) =>
  dnsNamesOf({
    metadata: { name: 'web', annotations: { 'external-dns.kubernetes.io/hostname': hostname } },
    spec: {},
  } as unknown as Service)

test('a Service has the names that its annotation asks for', () => {
  expect(asking('a.example,b.example')).toMatchObject({ dnsNames: ['a.example', 'b.example'], notice: null })
})

test.each([
  ['a.example,b_c.example', ['a.example'], '"b_c.example" is not published'],
  [
    Array.from({ length: 17 }, (_, at) => `a${at}.example`).join(),
    Array.from({ length: 16 }, (_, at) => `a${at}.example`),
    'Only the first 16',
  ],
])('%s: what is left out is said', (hostname, names, message) => {
  const asked = asking(hostname)
  expect(asked.dnsNames).toEqual(names)
  expect(asked.notice?.message).toContain(message)
})
