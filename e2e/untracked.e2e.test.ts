import { Caller, domainNamespaces, must, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, BOLT, balancer, vipOf } from './fixtures.ts'
import { Clients } from './kept-alive.ts'

/** Networks with only proxied listeners have nothing tracked; that changes while clients are connected. */

let system: TestSystem
let client: Caller

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT] })
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

it.each([
  ['gateway', () => system.tenants[0]!],
  ['snat', () => system.tenants[1]!],
] as const)(
  'a balanced listener that comes and goes breaks no request of the proxy, return path %s',
  async (_path, of) => {
    const tenant: Tenant = of()
    const shown = await system.createLoadBalancer(tenant, balancer('web', 'http'))
    const { number } = await system.api<{ number: number }>(system.access.admin, 'GET', `/networks/${tenant.networkId}`)
    // The other node may not have finished.
    const owner = (await system.boundAddresses('node1')).includes(vipOf(shown)) ? 'node1' : 'node2'
    const domain = domainNamespaces(system.lab, owner).find((name) => name.endsWith(`-d${number}`))
    const isTracked = async (): Promise<boolean> =>
      !(await must(['ip', 'netns', 'exec', domain!, 'nft', 'list', 'tables'])).includes('spout-doors')
    expect(await isTracked()).toBe(false)
    await using clients = new Clients(system, vipOf(shown))
    await clients.idle()
    await clients.goOn()
    for (let times = 0; times < 3; times++) {
      const other = await system.createLoadBalancer(tenant, balancer('packets', 'tcp'))
      const vip = vipOf(other)
      expect(await client.tcp(vip, 80)).toMatchObject({ ok: true })
      // It may have its address on the other node.
      await waitFor(isTracked, { what: 'a domain that tracks' })
      expect((await clients.goOn()).failures).toEqual([])
      await system.api(tenant, 'DELETE', `/load-balancers/${other.id}?cascade=true`)
      await waitFor(async () => !(await client.tcp(vip, 80, { timeoutMs: 400 })).ok, {
        what: 'the end of what was balanced',
      })
      await waitFor(async () => !(await isTracked()), { what: 'a domain that tracks nothing' })
      await clients.idle()
      expect(await clients.goOn()).toMatchObject({ failures: [], opened: 0 })
    }
  },
)
