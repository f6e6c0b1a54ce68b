import type { Service } from '@spout/kube'
import { expect, test } from 'vitest'
import { dnsNamesOf } from './dns-names.ts'

const asking = (annotations: Readonly<Record<string, string>>) =>
  dnsNamesOf({ metadata: { name: 'web', namespace: 'default', annotations }, spec: {} } as Service)
const [NEW, OLD] = ['external-dns.kubernetes.io', 'external-dns.alpha.kubernetes.io']

test.each([NEW, OLD])('names and time to live are read with the prefix %s', (prefix) => {
  const asked = asking({
    [`${prefix}/hostname`]: 'Shop.example.org., *.shop.example.org,shop.example.org',
    [`${prefix}/ttl`]: '1m',
  })
  expect(asked).toEqual({ dnsNames: ['shop.example.org', '*.shop.example.org'], dnsTtlSeconds: 60, notice: null })
})

test('without annotations there are none', () => {
  expect(asking({})).toEqual({ dnsNames: [], dnsTtlSeconds: null, notice: null })
})

test.each([
  [{ [`${NEW}/hostname`]: 'a.example,b_c.example' }, ['a.example'], '"b_c.example" is not published: it has a part'],
  [{ [`${NEW}/hostname`]: 'a.example', [`${OLD}/hostname`]: 'b.example' }, [], 'differs from'],
  [{ [`${NEW}/hostname`]: 'a.example', [`${NEW}/ttl`]: 'soon' }, ['a.example'], '"soon" is not a time'],
  [
    { [`${NEW}/hostname`]: Array.from({ length: 17 }, (_, at) => `a${at}.example`).join() },
    Array.from({ length: 16 }, (_, at) => `a${at}.example`),
    'Only the first 16',
  ],
])('%j is said and hinders nothing', (annotations, names, message) => {
  const asked = asking(annotations as unknown as Readonly<Record<string, string>>)
  expect(asked.dnsNames).toEqual(names)
  expect(asked.notice?.message).toContain(message)
})
