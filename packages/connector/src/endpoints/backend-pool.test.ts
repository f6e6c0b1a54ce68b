import type { Service } from '@spout/kube'
import { MOST_POOL_MEMBERS } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { endpoint, slice } from '../testing/objects.ts'
import { backendPool, backendPort } from './backend-pool.ts'

const service = (spec: Service['spec']): Service => ({ metadata: { name: 'web', namespace: 'shop' }, spec })
const web = service({
  ports: [
    { name: 'http', port: 80, targetPort: 'web' },
    { name: 'dns', protocol: 'UDP', port: 53 },
    { name: 'admin', port: 8081, targetPort: 9000 },
  ],
})
const portOf = (reference: object, one: Service | undefined = web) => backendPort(one, 'shop/web', reference, 'f')

describe('the port of a backend', () => {
  test('is found by name and by number', () => {
    expect(portOf({ name: 'http' })).toEqual({ value: { name: 'http', protocol: 'TCP', port: 80, targetPort: null } })
    expect(portOf({ number: 8081 })).toEqual({
      value: { name: 'admin', protocol: 'TCP', port: 8081, targetPort: 9000 },
    })
  })
  test.each([
    ['a Service that is missing', { number: 80 }, undefined, 'BackendNotFound'],
    ['an ExternalName', { number: 80 }, service({ type: 'ExternalName', externalName: 'evil' }), 'UnsupportedBackend'],
    ['a port that is missing', { number: 81 }, web, 'BackendPortNotFound'],
    ['a UDP port', { name: 'dns' }, web, 'BackendPortNotFound'],
    ['no port', {}, web, 'BackendPortNotFound'],
  ])('%s is refused', (_what, reference, one, reason) => {
    expect(backendPort(one, 'shop/web', reference, 'f')).toMatchObject({ refusal: { reason, field: 'f' } })
  })
})

test('the pool has the endpoints of the port', () => {
  const port = { name: 'http', protocol: 'TCP', port: 80, targetPort: null } as const
  const { pool } = backendPool('p', port, [slice('web', [endpoint('10.1.0.2'), endpoint('10.1.0.1')])], [4])
  expect(pool).toMatchObject({
    protocol: 'http',
    members: [
      { address: '10.1.0.1', port: 8080, weight: 1, monitorPort: null },
      { address: '10.1.0.2', port: 8080 },
    ],
  })
})

test('a pool has no more endpoints than it can have, those with the lowest addresses: more keep nothing else from being served', () => {
  const port = { name: 'http', protocol: 'TCP', port: 80, targetPort: null } as const
  const address = (at: number) => `10.1.${at >> 8}.${at & 255}`
  // As Kubernetes writes them: 100 in a slice.
  const slices = Array.from({ length: 101 }, (_, at) =>
    slice(
      'web',
      Array.from({ length: 100 }, (_, one) => endpoint(address(at * 100 + one))),
      { name: `web-${at}` },
    ),
  )
  const { pool, leftOut } = backendPool('p', port, slices.toReversed(), [4])
  const { members } = pool
  expect(leftOut).toBe(100)
  expect(members).toHaveLength(MOST_POOL_MEMBERS)
  expect(members.at(-1)?.address).toBe(address(MOST_POOL_MEMBERS - 1))
  expect(backendPool('p', port, slices.slice(0, 100), [4])).toMatchObject({
    pool: { members: { length: 10_000 } },
    leftOut: 0,
  })
})
