import type { HttpRoute } from '@spout/model'
import { listenerOf, memberOf, poolOf } from '@spout/testkit/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { haveOwnIds, type IdentifiedParts } from './own-ids.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const routeOf = (number: number): HttpRoute => ({
  ...{ id: id(number), name: '', description: '', tags: [], createdAt: '', updatedAt: null, enabled: true },
  conditions: [],
  action: { type: 'respond', code: 404 },
})

/** Numbers of ids, few enough that some occur twice. */
const number = fc.integer({ min: 1, max: 60 })
const parts = fc.record({
  listeners: fc.array(fc.tuple(number, fc.array(number, { maxLength: 5 })), { maxLength: 2 }),
  pools: fc.array(fc.tuple(number, fc.array(number, { maxLength: 5 })), { maxLength: 2 }),
})

const documentOf = ({ listeners, pools }: typeof parts extends fc.Arbitrary<infer T> ? T : never): IdentifiedParts => ({
  listeners: listeners.map(([own, routes]) =>
    listenerOf(id(own), 80, { protocol: 'http', routes: routes.map(routeOf) }),
  ),
  pools: pools.map(([own, members]) =>
    poolOf(
      id(own),
      members.map((one) => memberOf(id(one), '10.0.0.1')),
    ),
  ),
})

test('what is known of a version before makes no difference, whatever changes', () => {
  const change = fc.record({
    at: fc.nat(4),
    remove: fc.nat(2),
    add: fc.array(number, { maxLength: 2 }),
    again: fc.boolean(),
  })
  fc.assert(
    fc.property(parts, change, change, parts, (first, routes, members, others) => {
      const before = documentOf(first)
      fc.pre(haveOwnIds(before, null))
      const changed = <T>(list: readonly T[], { at, remove, add, again }: typeof routes, make: (one: number) => T) => [
        ...list.toSpliced(at, remove, ...add.map(make)),
        ...(again ? list.slice(0, 1) : []),
      ]
      const [listener, pool] = [before.listeners[0], before.pools[0]]
      const more = documentOf(others)
      const after: IdentifiedParts = {
        listeners: [
          ...(listener ? [{ ...listener, routes: changed(listener.routes, routes, routeOf) }] : []),
          ...before.listeners.slice(1),
          ...more.listeners,
        ],
        pools: [
          ...(pool
            ? [{ ...pool, members: changed(pool.members, members, (one) => memberOf(id(one), '10.0.0.1')) }]
            : []),
          ...more.pools,
        ],
      }
      for (const one of [after, before, more]) expect(haveOwnIds(one, before)).toBe(haveOwnIds(one, null))
    }),
    { numRuns: 300 },
  )
})

test('an id that a route of thousands has, or another part, is found when a part with it comes', () => {
  const routes = Array.from({ length: 200 }, (_, at) => routeOf(1000 + at))
  const documentWith = (own: readonly HttpRoute[], pool = 2): IdentifiedParts => ({
    listeners: [listenerOf(id(1), 80, { protocol: 'http', routes: [...own] })],
    pools: [poolOf(id(pool), [])],
  })
  const before = documentWith(routes)
  const comes = (number: number, at = 100) => documentWith(routes.toSpliced(at, 0, routeOf(number)))
  expect(haveOwnIds(before, null)).toBe(true)
  expect(haveOwnIds(comes(3), before)).toBe(true)
  for (const taken of [1000, 1150, 1199, 1, 2]) expect(haveOwnIds(comes(taken), before)).toBe(false)
  expect(haveOwnIds(documentWith(routes.with(7, routeOf(1007))), before)).toBe(true)
  expect(haveOwnIds(documentWith(routes.with(7, routeOf(1008))), before)).toBe(false)
  expect(haveOwnIds(documentWith(routes, 1199), before)).toBe(false)
  expect(haveOwnIds(comes(3), before)).toBe(true)
})
