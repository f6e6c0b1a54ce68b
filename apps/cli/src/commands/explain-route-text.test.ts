import { expect, test } from 'vitest'
import { routeLines } from './explain-route-text.ts'

test('a route says where its requests go, and where which share of them is copied', () => {
  const pools = ['web', 'next'].map((name) => ({ id: `id-${name}`, name }))
  const action = {
    type: 'forward',
    pools: [{ poolId: 'id-web', weight: 1 }],
    mirrors: [
      { poolId: 'id-next', percent: 12.5 },
      { poolId: 'gone', percent: 100 },
    ],
  }
  const route = { id: 'r', name: 'shop', enabled: true, reached: true, conditions: [], action }
  expect(routeLines([route], pools as never)).toEqual([
    '    route  shop: every request -> pool web; 12.5 % copied to pool next; 100 % copied to pool gone',
  ])
})
