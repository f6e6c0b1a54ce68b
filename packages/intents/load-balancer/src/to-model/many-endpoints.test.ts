import type { EndpointSlice, Service } from '@spout/kube'
import { expect, test } from 'vitest'
import { endpoint, slice, uid } from '../../../../connector/src/testing/objects.ts'
import type { LoadBalancerObject } from '../load-balancer-object.ts'
import { compile, specOf } from './compile.ts'

const serviceOf = (name: string): Service => ({
  metadata: { name, namespace: 'shop', labels: { app: 'web' } },
  spec: { ports: [{ name: 'http', port: 80 }] },
})
/** 3,000 endpoints of each Service, none of which the other has. */
const slicesOf = (name: string): readonly EndpointSlice[] =>
  Array.from({ length: 30 }, (_, at) =>
    slice(
      name,
      Array.from({ length: 100 }, (__, host) => endpoint(`10.${name === 'one' ? 1 : 2}.${at}.${host + 1}`)),
      { name: `${name}-${at}` },
    ),
  )
const compiledWith = (protocol: string) => {
  const membersFrom = [{ services: { matchLabels: { app: 'web' }, port: 'http' } }]
  const members = [{ address: '10.9.0.1', port: 80 }]
  const object = {
    metadata: { name: 'lb', namespace: 'shop', uid: uid(1), generation: 1 },
    spec: { pools: [{ name: 'web', protocol, members, membersFrom }] },
  } as unknown as LoadBalancerObject
  const spec = specOf(object)
  if ('refusal' in spec) throw new Error(spec.refusal.message)
  const services = ['one', 'two'].map(serviceOf)
  const made = compile(object, spec.value, {
    cluster: 'c1',
    certificate: () => ({ type: 'waits' }),
    service: (key) => services.find(({ metadata }) => `shop/${metadata.name}` === key),
    services: () => services,
    slicesOf: (key) => slicesOf(key.slice('shop/'.length)),
    slice: () => undefined,
    families: [4],
  })
  if ('refusal' in made) throw new Error(made.refusal.message)
  return made.value
}
const membersIn = (protocol: string) => (compiledWith(protocol).document.pools[0] as { members: unknown[] }).members

test('of more endpoints than a pool has room for, over all its sources, the first count and the rest is told', () => {
  expect(membersIn('tcp')).toHaveLength(4096)
  expect(membersIn('tcp')[0]).toMatchObject({ address: '10.9.0.1' })
  expect(compiledWith('tcp').problems).toEqual([
    {
      reason: 'EndpointsLeftOut',
      field: 'spec.pools[0].membersFrom',
      message: 'web: 1905 left out: a pool balanced per connection has at most 4096 members.',
    },
  ])
  expect(membersIn('http')).toHaveLength(6001)
  expect(compiledWith('http').problems).toEqual([])
})
