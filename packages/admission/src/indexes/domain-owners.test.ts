import { expect, test } from 'vitest'
import { DomainOwners, type HostOwner, type ServedName } from './domain-owners.ts'

const A = 'a'
const B = 'b'
const exact = (name: string): ServedName => ({ name, compare: 'exact' })
const below = (name: string): ServedName => ({ name, compare: 'any-labels' })
const oneBelow = (name: string): ServedName => ({ name, compare: 'one-label' })

function owners(): DomainOwners {
  const made = new DomainOwners()
  made.replace(A, ['*.shop.example', 'www.example.org'])
  made.replace(B, ['api.shop.example', '*.deep.shop.example', '*.example.net'])
  return made
}

test.each<readonly [string, ServedName, HostOwner, HostOwner]>([
  ['an exact domain', exact('www.example.org'), 'own', 'foreign'],
  ['below a wildcard, at any depth', exact('x.y.shop.example'), 'own', 'foreign'],
  ['not the wildcard itself', exact('shop.example'), 'nobody', 'nobody'],
  ['the more specific domain, exact', exact('api.shop.example'), 'foreign', 'own'],
  ['the more specific domain, a wildcard', exact('x.deep.shop.example'), 'foreign', 'own'],
  ['a name that only ends alike', exact('xshop.example'), 'nobody', 'nobody'],
  ['a wildcard of a project, also above others', below('shop.example'), 'own', 'foreign'],
  ['a wildcard below a wildcard', below('x.shop.example'), 'own', 'foreign'],
  ['a wildcard above domains of others', below('example'), 'partly', 'partly'],
  ['a wildcard of one label above an exact domain', oneBelow('example.org'), 'nobody', 'partly'],
  ['a wildcard of one label high above', oneBelow('org'), 'nobody', 'nobody'],
  ['another name', exact('other.example.com'), 'nobody', 'nobody'],
])('whose a host is: %s', (_, name, ofA, ofB) => {
  const all = owners()
  expect([all.ownerOf(name, A), all.ownerOf(name, B)]).toEqual([ofA, ofB])
})

test('projects with the same domain both have it', () => {
  const all = owners()
  all.replace('c', ['www.example.org'])
  expect([A, B, 'c'].map((id) => all.ownerOf(exact('www.example.org'), id))).toEqual(['own', 'foreign', 'own'])
})

test('what is taken away leaves nothing behind', () => {
  const all = owners()
  all.replace(B, ['*.example.net'])
  expect(all.ownerOf(exact('api.shop.example'), A)).toBe('own')
  expect(all.ownerOf(below('example.net'), A)).toBe('foreign')
  all.replace(B)
  expect(all.ownerOf(below('net'), A)).toBe('nobody')
  expect(all.isEmpty).toBe(false)
  all.replace(A, [])
  expect(all.isEmpty).toBe(true)
  expect(all.ownerOf(below('example'), B)).toBe('nobody')
})
