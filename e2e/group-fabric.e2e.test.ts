import { askOn, Caller, nodesInSync, type ShownLoadBalancer, startAgent, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bothTakePart, moveNode, schedule, shownVip } from './announcing-group.ts'
import { ACME, BOLT, balancer, vipOf } from './fixtures.ts'
import { addEdge, createEdgePool, EDGE, edgeAddress, presentAt } from './second-fabric.ts'
import { dropAll, expectAlive, holdSome, PATIENCE_MS } from './traffic.ts'

/** A node moves to a group that announces on another interface, and back. Nothing of the group that it leaves is lost. */

const NODES = ['node1', 'node2'] as const
const OWN = { node1: '198.51.100.2', node2: '198.51.100.3' } as const
const RELAXED = { shards: 1, profile: 'relaxed' } as const

interface ShownNode {
  readonly nodeGroupName: string
  readonly seenFabricAddress: string
  readonly status: { readonly problems: readonly { readonly code: string; readonly message: string }[] }
}

describe.each(['vrrp', 'l2'])('with announcer %s', (announcer) => {
  let system: TestSystem
  let client: Caller
  let shop: ShownLoadBalancer
  let moving: string
  let edgePoolId: string
  const groups = new Map<string, string>()

  beforeAll(async () => {
    const set = [`nodes.announcer=${announcer}`, 'network.fabricCidrs=["198.51.100.0/24", "192.0.2.0/24"]']
    system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: [], set })
    await addEdge(system.lab, NODES)
    const { items } = await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')
    // A machine that stalls briefly must not move anything.
    await asAdmin('PATCH', `/node-groups/${items[0]!.id}`, { vrrp: { profile: 'relaxed' } })
    // Agents whose own settings choose no interface.
    for (const node of NODES)
      await startAgent(system.lab, system.access, node, { set: ["fabric.interface=''", `fabric.address=${OWN[node]}`] })
    await nodesInSync(system.access, NODES.length)
    if (announcer === 'vrrp') await bothTakePart(system)
    edgePoolId = await createEdgePool(system)
    for (const [name, fabric] of [
      ['edge', { reaches: EDGE.gateway }],
      ['far', { interface: 'far0' }],
    ] as const) {
      const body = { name, announcer, fabric, vrrp: RELAXED, projectIds: null }
      groups.set(name, (await asAdmin<{ id: string }>('POST', '/node-groups', body)).id)
    }
    shop = await system.createLoadBalancer(system.tenants[0]!, balancer('shop', 'tcp'))
    moving = await owned(shop)
    client = await Caller.start(system.lab, 'client')
  })
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]()
    await system?.destroy()
  })

  const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
    system.api<T>(system.access.admin, method, at, body)
  const bolt = () => system.tenants[1]!
  const owned = (shown: ShownLoadBalancer): Promise<string> =>
    waitFor(
      async () => {
        const { state, owners } = await shownVip(system, shown)
        return state === 'announced' && owners[0]
      },
      { what: `a node to announce ${vipOf(shown)}` },
    )
  const shownNode = async (name: string): Promise<ShownNode> =>
    asAdmin<ShownNode>('GET', `/nodes/${(await system.nodeNamed(name)).id}`)
  const problemsOf = async (name: string) => (await shownNode(name)).status.problems
  /** A load balancer of the group, at an address of the second network. */
  const balancerIn = (group: string, name: string) =>
    system.api<ShownLoadBalancer>(bolt(), 'POST', '/load-balancers', {
      ...balancer(name, 'tcp'),
      nodeGroupId: groups.get(group),
      vips: [{ from: 'pool', poolId: edgePoolId }],
    })

  it('goes on there with nothing left on the former interface, and no connection of the group that it leaves ends', async () => {
    const held = await holdSome(client, shop, 16)
    const talks = held.map((connection) => askOn(() => connection.say('going on', PATIENCE_MS)))
    await moveNode(system, moving, 'edge')
    await waitFor(async () => (await presentAt(system.lab, moving, EDGE.interface)).rules > 0, {
      what: 'the agent to work on the other interface',
    })
    const said = (await Promise.all(talks.map((talk) => talk.stop()))).flat()
    expect(said.length).toBeGreaterThan(0)
    expect(said.filter(({ ok }) => !ok)).toEqual([])
    await expectAlive(held)
    await dropAll(held)
    expect(await owned(shop)).not.toBe(moving)
    const former = await presentAt(system.lab, moving, 'fab0')
    expect([former.addresses.includes(vipOf(shop)), former.rules]).toEqual([false, 0])
  })

  it('announces on the interface that its group names, where clients reach it', async () => {
    const index = NODES.indexOf(moving as (typeof NODES)[number])
    await waitFor(async () => (await shownNode(moving)).seenFabricAddress === edgeAddress(index), {
      what: 'its address there to be known',
    })
    const { id } = await balancerIn('edge', 'inner')
    const inner = await system.active(bolt(), id)
    expect(await owned(inner)).toBe(moving)
    expect((await presentAt(system.lab, moving, EDGE.interface)).addresses).toContain(vipOf(inner))
    const held = await holdSome(client, inner, 4)
    await expectAlive(held)
    await dropAll(held)
    expect(await problemsOf(moving)).toEqual([])
    await asAdmin('DELETE', `/load-balancers/${id}?cascade=true`)
  })

  it('carries nothing in a group whose interface it lacks, and says why; it takes part once it has it', async () => {
    await moveNode(system, moving, 'far')
    await waitFor(
      async () => (await problemsOf(moving)).some(({ message }) => message === 'the node has no interface far0'),
      { what: 'the node to say what it lacks' },
    )
    expect(await problemsOf(moving)).toContainEqual({
      code: 'FabricMissing',
      message: 'It has not taken the fabric interface of group `far`, far0: it carries nothing.',
    })
    const { id } = await balancerIn('far', 'outer')
    const refused = await waitFor(
      async () => {
        const shown = await system.loadBalancer(bolt(), id)
        return shown.status.provisioning === 'error' && shown
      },
      { what: 'the load balancer to be refused' },
    )
    expect(refused.status.message).toBe('No node of group `far` offers fabric-of-group.')
    expect(await system.boundAddresses(moving)).not.toContain(vipOf(refused))
    const lines = [
      'link add far0 type veth peer name far1',
      'addr add 192.0.2.253/30 dev far0',
      'link set dev far1 up',
      'link set dev far0 up',
    ]
    for (const line of lines) await system.lab.must(moving, ['ip', ...line.split(' ')])
    expect(await owned(refused)).toBe(moving)
    expect((await presentAt(system.lab, moving, 'far0')).addresses).toContain(vipOf(refused))
    await asAdmin('DELETE', `/load-balancers/${id}?cascade=true`)
  })

  it('comes back to the interface of its own settings, and takes part as before', async () => {
    await moveNode(system, moving, 'default')
    await waitFor(async () => (await shownNode(moving)).seenFabricAddress.startsWith('198.51.100.'), {
      what: 'its former address to be known again',
    })
    if (announcer === 'vrrp') await bothTakePart(system)
    const held = await holdSome(client, shop, 4)
    await schedule(system, await owned(shop), 'draining')
    await waitFor(async () => (await owned(shop)) === moving, { what: 'the address to move to it' })
    await expectAlive(held)
    await dropAll(held)
    expect(await problemsOf(moving)).toEqual([])
  })
})
