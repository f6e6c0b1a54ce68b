import { expect, test } from 'vitest'
import type { HttpRouteSpec } from '../objects/http-route.ts'
import type { RouteObject } from '../objects/route.ts'
import { routeWith, to } from '../testing/objects.ts'
import { RouteIndex } from './route-index.ts'

const matching = (type: 'RegularExpression' | 'PathPrefix', value = '/a') => [
  { matches: [{ path: { type, value } }], backendRefs: [to('web')] },
]
const withExpression = (more: Partial<HttpRouteSpec> = {}, number = 2): RouteObject =>
  routeWith({ rules: matching('RegularExpression'), ...more }, { number })

// When this text changes, the controller queues the younger routes of the Gateway.
test.each<readonly [string, RouteObject, RouteObject | undefined, boolean]>([
  ['goes', withExpression(), undefined, true],
  ['has another expression', withExpression(), withExpression({ rules: matching('RegularExpression', '/b') }), true],
  ['has none any more', withExpression(), withExpression({ rules: matching('PathPrefix') }), true],
  ['leaves for another Gateway', withExpression(), withExpression({ parentRefs: [{ name: 'other' }] }), true],
  [
    'leaves for a listener',
    withExpression(),
    withExpression({ parentRefs: [{ name: 'web', namespace: 'shop', sectionName: 'x' }] }),
    true,
  ],
  ['leaves by its names', withExpression(), withExpression({ hostnames: ['other.example'] }), true],
  ['is another of its name', withExpression(), withExpression({}, 3), true],
  [
    'leads elsewhere',
    withExpression(),
    withExpression({ rules: [{ ...matching('RegularExpression')[0]!, backendRefs: [to('api')] }] }),
    false,
  ],
  ['never had any', routeWith({ rules: matching('PathPrefix') }), routeWith({ hostnames: ['other.example'] }), false],
])('whether a route takes another place among expressions: %s', (_, first, second, expected) => {
  const index = new RouteIndex({ cluster: { listenerSet: () => undefined } })
  index.put('HTTPRoute/shop/r', first)
  const { before, after } = index.put('HTTPRoute/shop/r', second)
  expect(before.expressions !== after.expressions).toBe(expected)
})
