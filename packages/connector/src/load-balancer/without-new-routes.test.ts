import { httpRoute } from '@spout/model'
import { listenerOf, loadBalancerOf, metaOf } from '@spout/testkit/model'
import { expect, test } from 'vitest'
import type { LoadBalancerContent } from '../content/content.ts'
import { routeOf } from '../content/route-content.ts'
import { withoutNewRoutes } from './without-new-routes.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const respond = { type: 'respond', code: 404 } as const

function route(name: string, pool: string, others: object = {}) {
  const made = routeOf({ name, action: { type: 'forward', pools: [{ pool, weight: 1 }], ...others } }, 'x')
  if ('refusal' in made) throw new Error(made.refusal.message)
  return made.value
}

test('without the routes of new objects, pools stay that others send to, ask or copy to', () => {
  const old = httpRoute.parse({ ...metaOf(id(3)), tags: [], name: 'old/0', action: respond })
  const listeners = [listenerOf(id(2), 80, { protocol: 'http', routes: [old] })]
  const document = loadBalancerOf(id(1), { projectId: id(4), networkId: null, vips: [], listeners })
  const routes = [
    route('old/0', 'a', { authorizer: { pool: 'asked' }, mirrors: [{ pool: 'copied', percent: 1 }] }),
    ...['a', 'asked', 'copied', 'b'].map((pool, at) => route(`new/${at}`, pool)),
  ]
  const content = {
    name: 'x',
    annotations: {},
    listeners: [{ name: 'l', protocol: 'http', port: 80, routes }],
    pools: ['a', 'asked', 'copied', 'b'].map((name) => ({ name, members: [] })),
  } as unknown as LoadBalancerContent
  const left = withoutNewRoutes(content, document)
  expect(left.content.listeners[0]?.routes?.map(({ name }) => name)).toEqual(['old/0'])
  expect(left.content.pools.map(({ name }) => name)).toEqual(['a', 'asked', 'copied'])
  expect([...left.owners]).toEqual(['new'])
})
