import { askOn, Caller, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, balancer } from './fixtures.ts'
import { dropAll, expectAlive, holdSome } from './traffic.ts'

interface Amphora {
  readonly id: string
  readonly compute_id: string
  readonly role: string
  readonly status: string
}
interface Counted {
  readonly listener_id: string
  readonly total_connections: number
}

const FLOWS = 8

describe.each(['vrrp', 'l2'])('where %s announces, a failover in the Octavia API', (announcer) => {
  let system: TestSystem
  let client: Caller
  let shop: ShownLoadBalancer

  beforeAll(async () => {
    // Nothing but what is asked for moves.
    const set = [`nodes.announcer=${announcer}`, 'liveness.disconnectedAfterMs=1500', 'liveness.moveAfterMs=600000']
    system = await TestSystem.start({ tenants: [ACME], set })
    const { admin } = system.access
    const { items } = await system.api<{ items: { id: string }[] }>(admin, 'GET', '/node-groups')
    // Nor does a machine that stalls briefly move anything.
    await system.api(admin, 'PATCH', `/node-groups/${items[0]!.id}`, { vrrp: { profile: 'relaxed' } })
    shop = await system.createLoadBalancer(system.tenants[0] as Tenant, balancer('shop', 'tcp'))
    client = await Caller.start(system.lab, 'client')
  })
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]()
    await system?.destroy()
  })

  async function octavia<T>(
    method: 'GET' | 'PUT',
    path: string,
  ): Promise<{ readonly status: number; readonly body: T }> {
    const { endpoint, admin } = system.access
    const headers = { 'x-auth-token': admin.token }
    const answer = await fetch(`${endpoint}/load-balancer/v2${path}`, { method, headers })
    const text = await answer.text()
    return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
  }

  const amphorae = async (): Promise<readonly Amphora[]> =>
    (await octavia<{ amphorae: Amphora[] }>('GET', `/octavia/amphorae?loadbalancer_id=${shop.id}`)).body.amphorae
  /** The one that carries it; null while not both nodes have it. */
  const master = async (): Promise<Amphora | null> => {
    const all = await amphorae()
    const [found, ...others] = all.filter(({ role }) => role === 'MASTER')
    const settled = all.length === 2 && others.length === 0 && all.every(({ status }) => status === 'ALLOCATED')
    return settled ? (found ?? null) : null
  }
  const isActive = async () => {
    const at = `/lbaas/loadbalancers/${shop.id}`
    const { body } = await octavia<{ loadbalancer: { provisioning_status: string } }>('GET', at)
    return body.loadbalancer.provisioning_status === 'ACTIVE'
  }
  const counted = async ({ id }: Amphora): Promise<number> => {
    const { body } = await octavia<{ amphora_stats: Counted[] }>('GET', `/octavia/amphorae/${id}/stats`)
    return body.amphora_stats[0]!.total_connections
  }

  it('moves it to the other node, no connection is lost, and each node has counted its own', async () => {
    const before = await waitFor(master, { what: 'both nodes to have it' })
    const held = await holdSome(client, shop, FLOWS)
    await waitFor(async () => (await counted(before)) >= FLOWS, { what: 'the node to count its connections' })
    const talks = held.map((connection) => askOn(() => connection.say('going on')))
    await expect(octavia('PUT', `/lbaas/loadbalancers/${shop.id}/failover`)).resolves.toMatchObject({ status: 202 })
    await waitFor(isActive, { what: 'the load balancer to be active' })
    // It is not active before it has moved.
    const after = await waitFor(master, { what: 'both nodes to have it' })
    expect(after.compute_id).not.toBe(before.compute_id)
    expect((await Promise.all(talks.map((talk) => talk.stop()))).flat().filter(({ ok }) => !ok)).toEqual([])
    await expectAlive(held)
    await dropAll(held)
    await waitFor(
      async () => {
        await dropAll(await holdSome(client, shop, FLOWS))
        return (await counted(after)) >= FLOWS
      },
      { what: 'the other node to count, too' },
    )
  })

  /** Until then the other node may still be busy with the move before, and 503 says that it cannot take it now. */
  const failOver = ({ id }: Amphora) =>
    waitFor(async () => (await octavia('PUT', `/octavia/amphorae/${id}/failover`)).status === 202, {
      what: 'the failover to be accepted',
    })

  it('of the amphora that carries it moves it back; of the other, nothing', async () => {
    const before = await waitFor(master, { what: 'both nodes to have it' })
    const backup = (await amphorae()).find(({ role }) => role === 'BACKUP')!
    await failOver(backup)
    await waitFor(isActive, { what: 'the load balancer to be active' })
    expect((await waitFor(master, { what: 'its node' })).id).toBe(before.id)
    await failOver(before)
    await waitFor(isActive, { what: 'the load balancer to be active' })
    expect((await waitFor(master, { what: 'its node' })).id).toBe(backup.id)
    const held = await holdSome(client, shop, FLOWS)
    await expectAlive(held)
    await dropAll(held)
  })
})
