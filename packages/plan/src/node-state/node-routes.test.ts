import type { HttpRoute, NodeRoute } from '@spout/model'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { knownNodeRoutes, planRoutes } from './node-routes.ts'

const poolId = fc.constantFrom('a', 'b', 'c')
const AUTHORIZER = {
  ...{ method: null, host: null, path: '/check', pathPrefix: null, sendHeaders: ['*'], setHeaders: [] },
  ...{ takeHeaders: [], cookies: 'never' as const, signIn: null },
}
const route = fc
  .record({
    ...{ enabled: fc.boolean(), pool: poolId, mirror: fc.option(poolId), judge: fc.option(poolId) },
    users: fc.option(poolId),
  })
  .map(
    ({ enabled, pool, mirror, judge, users }): HttpRoute => ({
      ...{ id: pool, name: '', description: '', tags: [], createdAt: '', updatedAt: null },
      enabled,
      conditions: [],
      action: {
        ...{ type: 'forward', pools: [{ poolId: pool, weight: 1 }] },
        ...(judge !== null && { authorizer: { ...AUTHORIZER, poolId: judge } }),
        ...(mirror !== null && { mirrors: [{ poolId: mirror, percent: 10 }] }),
        ...(users !== null && { basicAuthentication: { realm: '', usersId: users } }),
        ...(judge !== null && users !== null && { satisfy: 'any' as const }),
      },
    }),
  )
/** Lists of users that are there, with their versions. */
const lists = fc.dictionary(poolId, fc.nat(2))
const certificatesOf = (versions: Readonly<Record<string, number>>) => (id: string) =>
  versions[id] === undefined ? null : { contentId: String(versions[id]), names: [], keyType: 'none' }
const numbers = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(2)).map((all) => new Map(Object.entries(all)))

it('plans a changed list as it plans a new one', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          at: fc.nat(8),
          remove: fc.nat(2),
          add: fc.array(route, { maxLength: 3 }),
          numbers: fc.option(numbers),
          lists: fc.option(lists),
        }),
        { maxLength: 12 },
      ),
      (changes) => {
        const known = knownNodeRoutes()
        let [routes, before, now]: [HttpRoute[], readonly NodeRoute[] | undefined, ReadonlyMap<string, number>] = [
          [],
          undefined,
          new Map([['a', 1]]),
        ]
        let users = certificatesOf({ a: 0 })
        for (const { at, remove, add, numbers, lists } of changes) {
          routes = routes.toSpliced(at, remove, ...add)
          now = numbers ?? now
          users = lists === null ? users : certificatesOf(lists)
          const planned = planRoutes(routes, now, before, known, users)
          expect(planned).toEqual(planRoutes(routes, now, undefined, undefined, users))
          before = planned.routes
        }
      },
    ),
  )
})

it('gives the same list for the same routes and numbers', () => {
  const known = knownNodeRoutes()
  const routes = fc.sample(route, 5).map((one) => ({ ...one, enabled: true }))
  const planned = planRoutes(routes, new Map([['a', 1]]), undefined, known).routes
  expect(planRoutes(routes, new Map([['a', 1]]), planned, known).routes).toBe(planned)
})

it('names pools that get copies by their numbers; one that nodes do not have is null', () => {
  const [one] = fc.sample(route, 1).map(
    (some): HttpRoute => ({
      ...some,
      enabled: true,
      action: {
        ...{ type: 'forward', pools: [{ poolId: 'a', weight: 1 }] },
        authorizer: { ...AUTHORIZER, poolId: 'b' },
        mirrors: [
          { poolId: 'b', percent: 0.5 },
          { poolId: 'gone', percent: 100 },
        ],
      },
    }),
  )
  expect(
    planRoutes(
      [one!],
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    ).routes,
  ).toMatchObject([
    {
      action: {
        authorizer: { ...AUTHORIZER, pool: 2 },
        mirrors: [
          { pool: 2, percent: 0.5 },
          { pool: null, percent: 100 },
        ],
      },
    },
  ])
})
