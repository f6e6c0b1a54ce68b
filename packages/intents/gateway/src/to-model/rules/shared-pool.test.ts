import type { BackendPool, MemberContent } from '@spout/connector'
import { MOST_SLOTS } from '@spout/model'
import { expect, test } from 'vitest'
import { connectionRoute } from '../../testing/objects.ts'
import type { Backend } from '../backends/backends.ts'
import { sharedPool, sharedPoolNameOf } from './shared-pool.ts'

const backend = (service: string): Backend => ({
  service,
  port: { name: '', protocol: 'TCP', port: 1, targetPort: null },
  protocol: 'tcp',
})
const member = (address: string): MemberContent => ({ name: 'pod', address, port: 1, weight: 1, monitorPort: null })
const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  one: ['10.0.0.1'],
  two: ['10.0.0.2', '10.0.0.3'],
  three: ['10.0.0.4', '10.0.0.5', '10.0.0.6'],
  same: ['10.0.0.1'],
  none: [],
}
const poolWith = (name: string, members: readonly MemberContent[]): BackendPool => ({
  pool: { name, protocol: 'tcp', persistence: null, panicThreshold: 10, drainSeconds: 300, monitor: null, members },
  leftOut: 0,
})
const poolOf = (name: string, { service }: Backend) => poolWith(name, (ENDPOINTS[service] ?? []).map(member))

test.each([
  ['one backend: equal members', { three: 7 }, [1, 1, 1]],
  ['equal shares of backends with other numbers of endpoints', { one: 1, three: 1 }, [3, 1, 1, 1]],
  ['unequal shares', { two: 70, one: 30 }, [7, 7, 6]],
  ['a share of 0 gets nothing', { one: 1, two: 0 }, [1, 0, 0]],
  ['no share at all', { one: 0 }, [0]],
  ['a backend without endpoints has no part in them', { none: 9, two: 1 }, [1, 1]],
  ['an endpoint of two backends has both shares', { one: 1, same: 2, two: 2 }, [3, 1, 1]],
  ['shares that are too far apart: the smaller gets something', { one: 1_000_000, two: 1 }, [256, 1, 1]],
  ['shares without small numbers: rounded', { one: 1000, two: 998 }, [256, 128, 128]],
])('%s', (_, weights, expected) => {
  const shares = Object.entries(weights).map(([service, weight]) => ({ backend: backend(service), weight }))
  expect(sharedPool('p', shares, poolOf)?.pool.members.map(({ weight }) => weight)).toEqual(expected)
})

test.each([
  ['nothing while all serve', { one: 1, two: 3 }, undefined],
  ['the share of a backend without endpoints', { none: 9, two: 1 }, 90],
  ['the share of one that does not resolve', { '': 1, two: 2 }, 33.3333],
  ['both', { '': 1, none: 1, two: 2 }, 50],
  ['nothing of a share of 0', { '': 0, two: 2 }, undefined],
  ['nothing where no endpoint is: the pool is empty', { none: 1, '': 1 }, undefined],
  ['nothing where all that resolve have a share of 0: they get none', { two: 0, '': 5 }, undefined],
])('refused is %s', (_, weights, expected) => {
  const shares = Object.entries(weights).map(([service, weight]) => ({
    backend: service === '' ? null : backend(service),
    weight,
  }))
  expect(sharedPool('p', shares, poolOf)?.pool.refusedPercent).toBe(expected)
})

test('no backend: no pool', () => {
  expect(sharedPool('p', [], poolOf)).toBeNull()
  expect(sharedPool('p', [{ backend: null, weight: 1 }], poolOf)).toBeNull()
})

test('its name is that of the route, or the UID where that is too long', () => {
  expect(sharedPoolNameOf(connectionRoute('TCPRoute', [], { name: 'db' }))).toBe('TCPRoute/shop/db')
  const long = connectionRoute('TCPRoute', [], { name: 'x'.repeat(253) })
  expect(sharedPoolNameOf(long)).toBe(`TCPRoute/${long.metadata.uid}`)
})

test('backends with more endpoints than a pool can have get equal room in it, and their shares', () => {
  const crowds = (name: string, { service }: Backend) => {
    const addressOf = (at: number) => `10.${service === 'left' ? 1 : 2}.${at >> 8}.${at & 255}`
    const { pool } = poolWith(
      name,
      Array.from({ length: 4000 }, (_, at) => member(addressOf(at))),
    )
    return { pool, leftOut: 2000 }
  }
  const shares = ['left', 'right'].map((service, at) => ({ backend: backend(service), weight: at + 1 }))
  const made = sharedPool('p', shares, crowds)
  const members = made?.pool.members ?? []
  expect([members.length, made?.leftOut]).toEqual([MOST_SLOTS, 12_000 - MOST_SLOTS])
  const weightOf = (network: string) =>
    members.filter(({ address }) => address.startsWith(network)).reduce((sum, { weight }) => sum + weight, 0)
  expect(weightOf('10.2.')).toBe(2 * weightOf('10.1.'))
})
