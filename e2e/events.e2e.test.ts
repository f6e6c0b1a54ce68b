import type { Figures, LoadBalancerRow, MemberTransition } from '@spout/model'
import {
  askOn,
  Caller,
  type ReceivedEvents,
  receiveEvents,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, PORT, quickCheck, vipOf } from './fixtures.ts'

const NODE = 'node1'
let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer
let events: ReceivedEvents

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME], nodes: [NODE] })
  acme = system.tenants[0]!
  events = await receiveEvents(`${system.access.endpoint}/api/v1/events`, acme.token)
  shop = await system.createLoadBalancer(
    acme,
    balancer('shop', 'http', {
      memberPort: PORT.http,
      pool: { monitor: quickCheck('http') },
      listener: { latencies: true },
    }),
  )
})
afterAll(async () => {
  events?.close()
  await system?.destroy()
})

/** The next row of the load balancer that the test waits for. */
async function row(found: (row: LoadBalancerRow) => boolean): Promise<LoadBalancerRow> {
  for (;;) {
    const next = await events.next()
    if (next === null) throw new Error('the stream has ended')
    if (next.event === 'row' && next.data.id === shop.id && found(next.data)) return next.data
  }
}

it('tells a page when the nodes carry a load balancer, and what it does, with a history', async () => {
  const well = await row(({ health }) => health === 'ok')
  expect(well).toMatchObject({ name: 'shop', vips: [vipOf(shop)], members: { total: 2, serving: 2 } })
  const { items } = await system.api<{ items: LoadBalancerRow[] }>(acme, 'GET', '/overview/load-balancers')
  expect(items).toMatchObject([{ id: shop.id, health: 'ok' }])
  // They go on until they are counted: a proxy that starts again meanwhile counts from zero.
  await using client = await Caller.start(system.lab, 'client')
  const requests = askOn(() => client.http(vipOf(shop)), 50)
  const busy = await row(({ connectionsPerSecond }) => (connectionsPerSecond ?? 0) > 0)
  expect(busy.bytesPerSecond).toBeGreaterThan(0)
  const series = await waitFor(
    async () => {
      const { series } = await system.api<Figures>(acme, 'GET', `/load-balancers/${shop.id}/figures`)
      const has = (name: keyof typeof series) => series[name]?.some((value) => value !== null && value > 0)
      return has('requestsPerSecond') && has('latencyP99Ms') && series
    },
    { what: 'figures of requests' },
  )
  await requests.stop()
  expect(series.responses2xxPerSecond?.some((value) => (value ?? 0) > 0)).toBe(true)
  expect(series.responses5xxPerSecond?.every((value) => (value ?? 0) === 0)).toBe(true)
  expect(series.connectionsPerSecond).toHaveLength(60)
})

it('tells a page when a member dies, and remembers why', async () => {
  await system.lab.stop(system.lab.process('member-tenant-a-member1')!, 'SIGKILL')
  const degraded = await row(({ health }) => health === 'degraded')
  expect(degraded).toMatchObject({ members: { total: 2, serving: 1 }, reason: expect.stringContaining('10.0.0.11') })
  const path = `/load-balancers/${shop.id}/member-history`
  const { items } = await system.api<{ items: MemberTransition[] }>(acme, 'GET', path)
  const memberId = shop.pools[0]?.members.find(({ name }) => name === 'member1')?.id
  expect(items.at(-1)).toMatchObject({ nodeName: NODE, memberId, health: 'down', reason: expect.any(String) })
})
