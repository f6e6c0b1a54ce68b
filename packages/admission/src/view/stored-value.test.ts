import { POOL_FAILURE_DEFAULTS } from '@spout/model'
import { expect, it } from 'vitest'
import { poolOf } from '../testing/office.ts'
import { readStored } from './stored-value.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const stored = (pools: readonly unknown[], more: object = {}) => ({
  id: ID,
  kind: 'loadBalancer',
  revision: '1',
  value: {
    id: ID,
    name: 'a',
    description: '',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: null,
    projectId: ID,
    tags: [],
    enabled: true,
    generation: 1,
    networkId: null,
    vips: [{ addressId: ID, address: '192.0.2.1', scope: 'fabric', poolId: ID, networkId: null, subnetId: null }],
    listeners: [],
    pools,
    nodeGroupId: null,
    annotations: {},
    ...more,
  },
})

it('takes a complete document unparsed', () => {
  const whole = stored([poolOf('00000000-0000-4000-8000-000000000002', [])])
  expect(readStored('loadBalancer', whole as never)).toBe(whole.value)
})

it('takes a document without optional fields, or with some, unparsed', () => {
  for (const more of [{}, { classId: ID }]) {
    const whole = stored([], more)
    expect(readStored('loadBalancer', whole as never)).toBe(whole.value)
  }
})

it('fills in fields that pools of an earlier version lack', () => {
  const {
    slowStartSeconds: _s,
    drainSeconds: _d,
    resetOnDown: _r,
    passiveCheck: _p,
    ...earlier
  } = poolOf('00000000-0000-4000-8000-000000000002', [])
  const read = readStored('loadBalancer', stored([earlier]) as never)
  expect(read.pools[0]).toMatchObject(POOL_FAILURE_DEFAULTS)
})

it.each([
  ['of its own', [], { colour: 'red' }],
  ['of a pool', [{ ...poolOf('00000000-0000-4000-8000-000000000002', []), colour: 'red' }], {}],
  ['of its own and of a pool', [{ ...poolOf('00000000-0000-4000-8000-000000000002', []), colour: 'red' }], { size: 1 }],
])('reads objects of a later version without unknown fields: %s', (_whose, pools, more) => {
  const read = readStored('loadBalancer', stored(pools, more) as never)
  const known = pools.map(({ colour: _, ...one }) => one)
  expect(read).toEqual(stored(known).value)
})

it('reads a listener of a later version, and a user can change it', () => {
  const own = aListener()
  const read = readStored('loadBalancer', stored([], { listeners: [{ ...own, colour: 'red' }] }) as never)
  expect(read.listeners).toEqual([own])
})

it('reports an error beside an unknown field', () => {
  expect(() => readStored('loadBalancer', stored([], { colour: 'red', enabled: 'perhaps' }) as never)).toThrow(
    'Field enabled: must be true or false',
  )
})

const aListener = () => ({
  id: '00000000-0000-4000-8000-000000000003',
  name: '',
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
  tags: [],
  enabled: true,
  protocol: 'tcp',
  port: 80,
  connectionLimit: null,
  defaultPoolId: null,
  routes: [],
  tls: null,
  timeouts: { clientMs: 1, connectMs: 1, memberMs: 1, inspectMs: 0 },
  insertHeaders: [],
  latencies: false,
  routeFigures: false,
  accessLog: null,
  allowedCidrs: null,
})
