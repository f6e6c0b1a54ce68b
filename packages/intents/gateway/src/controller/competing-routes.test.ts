import { expect, test } from 'vitest'
import type { ParentRef } from '../objects/references.ts'
import type { RouteObject } from '../objects/route.ts'
import { connectionRoute, routeWith, to } from '../testing/objects.ts'
import { CompetingRoutes } from './competing-routes.ts'

const at = (name: string, ref: object, age = 5, kind: 'TCPRoute' | 'UDPRoute' = 'TCPRoute'): RouteObject =>
  connectionRoute(
    kind,
    [to('a')],
    { name, createdAt: `2026-01-0${age}T00:00:00Z` },
    { parentRefs: [{ name: 'web', ...ref } as ParentRef] },
  )
const indexOf = (...routes: readonly RouteObject[]) => {
  const index = new CompetingRoutes()
  for (const one of routes) index.put(idOf(one), one)
  return index
}
const idOf = ({ kind, metadata: { name } }: RouteObject) => `${kind}/shop/${name}`

test.each<readonly [string, object, object, boolean]>([
  ['the whole Gateway', {}, {}, true],
  ['the whole Gateway and a listener', {}, { sectionName: 'a' }, true],
  ['one listener', { sectionName: 'a' }, { sectionName: 'a' }, true],
  ['a listener and a port, which may be the same', { sectionName: 'a' }, { port: 1 }, true],
  ['two listeners', { sectionName: 'a' }, { sectionName: 'b' }, false],
  ['two ports', { port: 1 }, { port: 2 }, false],
  ['listeners of one name and two ports', { sectionName: 'a', port: 1 }, { sectionName: 'a', port: 2 }, false],
  ['two Gateways', {}, { name: 'other' }, false],
  ['a Gateway and a ListenerSet of its name', {}, { kind: 'ListenerSet' }, false],
  ['one ListenerSet', { kind: 'ListenerSet' }, { kind: 'ListenerSet', sectionName: 'a' }, true],
])('whether two routes compete: %s', (_, first, second, expected) => {
  const index = indexOf(at('one', first), at('two', second))
  expect(index.of('TCPRoute/shop/one')).toEqual(expected ? ['TCPRoute/shop/two'] : [])
  expect(index.of('TCPRoute/shop/two')).toEqual(expected ? ['TCPRoute/shop/one'] : [])
})

test('routes of two kinds, and of kinds that share a listener, do not compete', () => {
  const index = indexOf(at('one', {}), at('two', {}, 6, 'UDPRoute'), routeWith({}, { name: 'http' }))
  expect(index.of('TCPRoute/shop/one')).toEqual([])
  expect(index.put('HTTPRoute/shop/http', undefined)).toEqual([])
})

test('what changes nothing about who has a listener affects nobody', () => {
  const one = at('one', { sectionName: 'a' }, 1)
  const index = indexOf(one, at('two', { sectionName: 'a' }, 2))
  const backends = { ...one, spec: { ...one.spec, rules: [{ backendRefs: [to('b')] }] } } as RouteObject
  expect(index.put('TCPRoute/shop/one', backends)).toEqual([])
  expect(index.put('TCPRoute/shop/one', { ...backends, status: { parents: [] } })).toEqual([])
})

test('one that comes, moves or goes affects the younger ones there and where it was', () => {
  const index = indexOf(at('a', { sectionName: 'a' }, 3), at('b', { sectionName: 'b' }, 4), at('old', {}, 1))
  const id = 'TCPRoute/shop/new'
  expect(index.put(id, at('new', { sectionName: 'a' }, 2))).toEqual(['TCPRoute/shop/a'])
  expect(index.put(id, at('new', { sectionName: 'b' }, 2))).toEqual(['TCPRoute/shop/a', 'TCPRoute/shop/b'])
  // Created again, as the youngest of all.
  expect(index.put(id, at('new', { sectionName: 'b' }, 5))).toEqual(['TCPRoute/shop/b'])
  expect(index.put(id, undefined)).toEqual([])
  expect(index.of(id)).toEqual([])
  expect(index.put('TCPRoute/shop/old', undefined)).toEqual(['TCPRoute/shop/a', 'TCPRoute/shop/b'])
})
