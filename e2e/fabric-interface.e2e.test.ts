import { nodesInSync, type ShownLoadBalancer, startAgent, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOLT, balancer, vipOf } from './fixtures.ts'
import { agentOf } from './node-processes.ts'
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
