import { expect, test } from 'vitest'
import { endpoint, slice } from '../../../../connector/src/testing/objects.ts'
import { compiled } from '../testing/compiled.ts'
import { ingress } from '../testing/objects.ts'

/** 10,001 endpoints. */
const slices = Array.from({ length: 101 }, (_, at) =>
  slice(
    'web',
    Array.from({ length: at === 100 ? 1 : 100 }, (__, host) => endpoint(`10.1.${at}.${host + 1}`)),
    { name: `web-${at}` },
  ),
)
const rule = (host: string) => ({
  host,
  http: {
    paths: [
      { path: '/', pathType: 'Prefix' as const, backend: { service: { name: 'web', port: { number: 80 } } } },
      { path: '/x', pathType: 'Prefix' as const, backend: { service: { name: 'next', port: { number: 80 } } } },
    ],
  },
})

test('each Ingress says that its Service has more endpoints than a pool has room for, and is served', () => {
  const [one, other] = [1, 2].map((number) => ingress(`i${number}`, number, { rules: [rule(`${number}.example`)] }))
  const made = compiled.around({ slices: (key) => (key === 'shop/web' ? slices : []) })(one!, other!)
  const [pool] = made.content.pools.filter(({ name }) => name.startsWith('shop/web'))
  expect(pool?.members).toHaveLength(10_000)
  for (const each of [one!, other!])
    expect(made.problems.get(each.metadata.uid!)).toEqual([
      {
        reason: 'EndpointsLeftOut',
        field: 'spec.rules[0].http.paths[0].backend',
        message:
          'Service shop/web: more endpoints than the 10000 members of a pool; those with the lowest addresses are its members.',
      },
    ])
})
