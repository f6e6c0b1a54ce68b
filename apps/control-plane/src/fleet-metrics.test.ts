import type { Serving } from '@spout/model'
import { FakeClock } from '@spout/runtime/fake-clock'
import { Metrics } from '@spout/runtime/metrics'
import { expect, it } from 'vitest'
import { describeAddressPools, describeReadiness, describeServing } from './fleet-metrics.ts'

const linesOf = async (metrics: Metrics): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith('spout_') && !line.includes('cut_series'))

it('each check of /readyz has a series', async () => {
  const metrics = new Metrics()
  const store = { reason: null as string | null }
  describeReadiness(metrics, [
    { name: 'store', check: () => store.reason },
    { name: 'leader', check: () => null },
  ])
  expect(await linesOf(metrics)).toEqual(['spout_ready{check="store"} 1', 'spout_ready{check="leader"} 1'])
  store.reason = 'the disk is full'
  expect(await linesOf(metrics)).toContain('spout_ready{check="store"} 0')
})

it('load balancers are counted by how they serve, those of no reason too', async () => {
  const metrics = new Metrics()
  const reasons: readonly Serving['reason'][] = ['Serving', 'AllMembersDown', 'Serving']
  describeServing(metrics, {
    view: { list: () => reasons.map((_, index) => ({ id: String(index) })) } as never,
    status: { summary: (id) => ({ serving: { reason: reasons[Number(id)] } }) as never },
  })
  const lines = await linesOf(metrics)
  expect(lines).toHaveLength(8)
  expect(lines).toEqual(
    expect.arrayContaining([
      'spout_load_balancers_serving{reason="Serving"} 2',
      'spout_load_balancers_serving{reason="AllMembersDown"} 1',
      'spout_load_balancers_serving{reason="Disabled"} 0',
    ]),
  )
})

it('addresses of a pool that are in use or rest are not free', async () => {
  const metrics = new Metrics()
  const clock = new FakeClock()
  const later = new Date(clock.now().getTime() + 1000).toISOString()
  const address = (holderId: string, quarantineUntil: string | null, scope = 'fabric') => ({
    holderId,
    scope,
    quarantineUntil,
  })
  const kinds = {
    addressPool: [
      { id: 'p', name: 'public', ranges: [{ first: '198.51.100.1', last: '198.51.100.10' }] },
      { id: 'q', name: 'v6', ranges: [{ first: '2001:db8::', last: '2001:db8::ffff' }] },
    ],
    address: [
      address('p', null),
      address('p', later),
      address('p', clock.now().toISOString()),
      address('p', null, 'tenant'),
    ],
  }
  describeAddressPools(metrics, { view: { list: (kind: keyof typeof kinds) => kinds[kind] } as never, clock })
  expect(await linesOf(metrics)).toEqual([
    'spout_address_pool_addresses{pool="public",state="total"} 10',
    'spout_address_pool_addresses{pool="public",state="free"} 8',
    'spout_address_pool_addresses{pool="v6",state="total"} 65536',
    'spout_address_pool_addresses{pool="v6",state="free"} 65536',
  ])
})
