import type { HttpRoute, Listener } from '@spout/model'
import { expect, test } from 'vitest'
import { usageOf } from './quota.ts'

test('a change of one of thousands of routes is counted with a look at that one', () => {
  let looks = 0
  /** Only what is counted. */
  const route = (conditions: number) =>
    ({
      get conditions() {
        looks++
        return Array.from({ length: conditions }, () => ({}))
      },
    }) as unknown as HttpRoute
  const used = (routes: readonly HttpRoute[]) => {
    const listener = { routes } as unknown as Listener
    const { routes: count, routeConditions } = usageOf({ listeners: [listener], pools: [] })
    return [count, routeConditions]
  }
  const routes = Array.from({ length: 3000 }, () => route(2))
  expect(used(routes)).toEqual([3000, 6000])
  looks = 0
  const more = [...routes, route(5)]
  expect(used(more)).toEqual([3001, 6005])
  expect(used(more.slice(1))).toEqual([3000, 6003])
  expect(used([])).toEqual([0, 0])
  expect(looks).toBeLessThan(10)
})
