import type { HttpRoute } from '@spout/model'
import { expect, test } from 'vitest'
import { filterProblems } from './filter-problems.ts'

const cors = { type: 'cors', credentials: true, exposeHeaders: ['*'] }
let looks = 0
/** Only what is looked at. */
const route = (filters: readonly object[]) =>
  ({
    conditions: [],
    get action() {
      looks++
      return { type: 'forward', filters }
    },
  }) as unknown as HttpRoute
const fieldsOf = (routes: readonly HttpRoute[]) =>
  [...filterProblems(routes, 'routes')].map(({ params }) => (params as { readonly field: string }).field)

test('a wrong filter is found at its place among thousands of routes, and costs no look at the others before it came', () => {
  const routes = Array.from({ length: 3000 }, () => route([{ type: 'rewrite' }]))
  expect(fieldsOf(routes)).toEqual([])
  looks = 0
  expect(fieldsOf([...routes, route([{ type: 'rewrite' }])])).toEqual([])
  expect(looks).toBeLessThan(10)
  expect(fieldsOf([...routes, route([{ type: 'rewrite' }, cors])])).toEqual([
    'routes[3000].action.filters[1].exposeHeaders[0]',
  ])
  expect(fieldsOf(routes)).toEqual([])
})
