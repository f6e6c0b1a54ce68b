import { expect, test } from 'vitest'
import { ownedBy, ownerOf, ownershipName, ownershipText } from './ownership.ts'

test('names and texts are those of external-dns, and are read back', () => {
  expect(ownershipName('shop.example.org', 'A')).toBe('a-shop.example.org')
  expect(ownershipName('*.apps.example.org', 'AAAA')).toBe('aaaa-*.apps.example.org')
  for (const type of ['A', 'AAAA'] as const)
    expect(ownedBy(ownershipName('a-b.example.org', type))).toEqual({ name: 'a-b.example.org', type })
  expect(ownedBy('cname-shop.example.org')).toBeNull()
  const text = ownershipText('spout', 'spout/p/lb')
  expect(text).toBe('heritage=external-dns,external-dns/owner=spout,external-dns/resource=spout/p/lb')
  expect(ownerOf(text)).toBe('spout')
})

test.each([
  ['"heritage=external-dns,external-dns/owner=cluster-7,external-dns/resource=service/default/web"', 'cluster-7'],
  ['heritage=external-dns', null],
  ['heritage=other,external-dns/owner=spout', null],
  ['v=spf1 -all', null],
  ['', null],
])('of %s the owner is %s', (text, owner) => expect(ownerOf(text)).toBe(owner))
