import { nodesInSync, type ShownLoadBalancer, startAgent, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bothTakePart, shownVip } from './announcing-group.ts'
import { BOLT, balancer, vipOf } from './fixtures.ts'
import { agentOf, daemonsOf } from './node-processes.ts'
import { addEdge, createEdgePool, EDGE, presentAt } from './second-fabric.ts'

/** An agent that is started with another fabric interface takes everything along, and leaves nothing on the former. */

describe.each(['vrrp', 'l2'])('with announcer %s', (announcer) => {
  let system: TestSystem
  let shop: ShownLoadBalancer

  beforeAll(async () => {
    system = await TestSystem.start({ tenants: [BOLT], nodes: ['node1'], set: [`nodes.announcer=${announcer}`] })
    await addEdge(system.lab, ['node1'])
    const vips = [{ from: 'pool', poolId: await createEdgePool(system) }]
    shop = await system.createLoadBalancer(system.tenants[0]!, { ...balancer('shop', 'http'), vips })
  })
  afterAll(() => system?.destroy())

  const restart = async (dev: string) => {
    await system.lab.stop(agentOf(system.lab, 'node1'))
    const stopped = Date.now()
    await startAgent(system.lab, system.access, 'node1', { set: [`fabric.interface=${dev}`] })
    await system.inSyncAfter('node1', stopped)
  }
  const announcedAt = (dev: string) =>
    waitFor(async () => (await presentAt(system.lab, 'node1', dev)).addresses.includes(vipOf(shop)), {
      what: `${vipOf(shop)} to be bound at ${dev}`,
    })
  const tables = () => system.lab.must('node1', ['nft', 'list', 'ruleset'])

  it('announces on the new one alone, where clients reach it', async () => {
    await announcedAt('fab0')
    await restart(EDGE.interface)
    await announcedAt(EDGE.interface)
    const former = await presentAt(system.lab, 'node1', 'fab0')
    expect(former.addresses).not.toContain(vipOf(shop))
    expect(former.rules).toBe(0)
    expect((await presentAt(system.lab, 'node1', EDGE.interface)).rules).toBeGreaterThan(0)
    expect(await tables()).not.toContain('"fab0"')
    const { stdout, stderr } = await system.lab.run('client', ['curl', '-sS', '-m', '20', `http://${vipOf(shop)}/`])
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('tenant-b-member')])
  })

  it('goes back, even if the interface that it leaves is gone', async () => {
    await system.lab.stop(agentOf(system.lab, 'node1'))
    await system.lab.must('node1', ['ip', 'link', 'delete', 'dev', EDGE.interface])
    const stopped = Date.now()
    await startAgent(system.lab, system.access, 'node1')
    await system.inSyncAfter('node1', stopped)
    await nodesInSync(system.access, 1)
    await announcedAt('fab0')
    expect(await tables()).not.toContain(EDGE.interface)
    expect(await system.lab.must('node1', ['ip', 'rule', 'show'])).not.toContain(EDGE.interface)
  })
})

describe('beside another node of a vrrp group', () => {
  const NODES = ['node1', 'node2'] as const
  let system: TestSystem
  let shop: ShownLoadBalancer

  beforeAll(async () => {
    system = await TestSystem.start({ tenants: [BOLT], set: ['nodes.announcer=vrrp'] })
    const { items } = await system.api<{ items: { id: string }[] }>(system.access.admin, 'GET', '/node-groups')
    await system.api(system.access.admin, 'PATCH', `/node-groups/${items[0]!.id}`, { vrrp: { profile: 'relaxed' } })
    await addEdge(system.lab, NODES)
    await bothTakePart(system)
    shop = await system.createLoadBalancer(system.tenants[0]!, balancer('shop', 'http'))
  })
  afterAll(() => system?.destroy())

  const owner = (): Promise<string> =>
    waitFor(async () => (await shownVip(system, shop)).owners.join(), { what: 'a node to own the address' })
  const owns = (node: string) => waitFor(async () => (await owner()) === node, { what: `${node} alone to own it` })
  const problems = async (node: string) => {
    const { id } = await system.nodeNamed(node)
    const shown = await system.api<{ status: { problems: readonly object[] } }>(
      system.access.admin,
      'GET',
      `/nodes/${id}`,
    )
    return shown.status.problems
  }

  it('takes nothing over while the other knows it by an address of the former interface, although not drained', async () => {
    const moved = (await owner()) as (typeof NODES)[number]
    const other = NODES.find((node) => node !== moved)!
    await system.lab.stop(agentOf(system.lab, moved))
    // Nobody said that nodes may have addresses of this network, so the new one does not become known.
    await startAgent(system.lab, system.access, moved, { set: [`fabric.interface=${EDGE.interface}`] })
    const formerly = { node1: '198.51.100.2', node2: '198.51.100.3' }[moved]
    const message = `its neighbours know it by ${formerly}, which is on fab0`
    const lacking = expect.objectContaining({ code: 'FabricMissing', message: expect.stringContaining(message) })
    await waitFor(async () => expect(await problems(moved)).toContainEqual(lacking) ?? true, { what: message })
    await owns(other)
    expect(await daemonsOf(system.lab, moved, ['keepalived'])).toEqual([])
    expect(await system.boundAddresses(moved)).not.toContain(vipOf(shop))

    await system.lab.stop(agentOf(system.lab, moved))
    await startAgent(system.lab, system.access, moved)
    await bothTakePart(system)
    expect(await problems(moved)).toEqual([])
    await owns(other)
  })
})
