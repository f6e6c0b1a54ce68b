import { POOL_FAILURE_DEFAULTS } from '@spout/model'
import { expect, it } from 'vitest'
import { readStored } from './stored-value.ts'
import { poolOf } from './testing/office.ts'

const ID = '00000000-0000-4000-8000-000000000001'
const stored = (pools: readonly unknown[]) => ({
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
  },
})

it('takes a whole document as it is', () => {
  const whole = stored([poolOf('00000000-0000-4000-8000-000000000002', [])])
  expect(readStored('loadBalancer', whole as never)).toBe(whole.value)
})

it('fills in what pools of an earlier version lack', () => {
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
