import { expect, it } from 'vitest'
import type { ExplainedRoute } from '../../api/explanation.ts'
import { listener, member, pool } from '../path/testing/explanation.ts'
import { hasSliders, weighedRoutes } from './weighed-places.ts'

const route = (id: string, action: object) =>
  ({ id, name: id, enabled: true, conditions: [], reached: true, action }) as unknown as ExplainedRoute
const forward = (count: number, more: object = {}) => ({
  type: 'forward',
  pools: Array.from({ length: count }, (_, at) => ({ poolId: `p${at}`, weight: 1 })),
  ...more,
})

it('finds the routes that send to several pools', () => {
  const routes = [
    route('one', forward(1)),
    route('two', forward(2)),
    route('moved', { type: 'redirect', code: 301 }),
    route('answers', forward(2, { answered: { code: 503, weight: 1 } })),
  ]
  const found = weighedRoutes([listener('a', { routes: routes.slice(0, 1) }), listener('b', { routes })])
  expect(found.map(({ listenerId, route: { id } }) => [listenerId, id])).toEqual([['b', 'two']])
})

it('pools of a few members have sliders', () => {
  const of = (count: number) =>
    hasSliders(
      pool(
        'p',
        Array.from({ length: count }, (_, at) => member(`m${at}`)),
      ),
    )
  expect([0, 1, 2, 12, 13].map(of)).toEqual([false, false, true, true, false])
})
