import type { DomainEntry, GroupEntry, LoadBalancer, LoadBalancerEntry, ShardReport, ShardState } from '@spout/model'
import { MemoryStore, type Store } from '@spout/store'
import { describe, expect, test, vi } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid, vrrpGroup } from '../testing/model.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)
const GROUP = uuid('group', 1)
const LB = uuid('lb', 1)
const KEY = `lb/${LB}`
const VIP = '198.18.0.2'

/** Its connections to members come from each node's own address. */
function proxied(number: number): LoadBalancer {
  const one = loadBalancer(number)
  return {
    ...one,
    listeners: one.listeners.map((listener) => ({ ...listener, protocol: 'http' })),
    pools: one.pools.map((pool) => ({ ...pool, protocol: 'http' })),
  }
}

async function cluster(store: Store = new MemoryStore()): Promise<ControlPlane> {
  const plane = await ControlPlane.start(store)
  await plane.put(['nodeGroup', vrrpGroup(1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.put(['network', network(2)])
  await plane.report(N1)
  await plane.report(N2)
  return plane
}

const shard = (number: number, state: ShardState, changes: Partial<ShardReport> = {}): ShardReport => ({
  number,
  state,
  since: '2026-01-01T00:00:10.000Z',
  takeovers: 0,
  lastMove: null,
  ...changes,
})

const programmed = (plane: ControlPlane, nodeId: string, announced: readonly string[]) => ({
  key: KEY,
  hash: plane.nodeStates.get(nodeId, KEY)!.hash,
  state: 'programmed' as const,
  reason: null,
  message: null,
  announced,
})

const status = (plane: ControlPlane) => {
  const { provisioning, reason } = plane.status.loadBalancer(LB)
  return `${provisioning} ${reason}`
}

/** Lets time pass while these nodes go on reporting. */
async function pass(plane: ControlPlane, ms: number, nodeIds: readonly string[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await plane.clock.advance(500)
    for (const nodeId of nodeIds) await plane.report(nodeId)
  }
}

describe('what nodes of a vrrp group get', () => {
  test('the group entry first, then the same entry on all nodes, with the gateway in the same shard', async () => {
    const plane = await cluster()
    const seen: string[] = []
    plane.nodeStates.onChange(uuid('node', 3), (keys) => seen.push(...keys))
    await plane.put(['network', network(1, { returnPath: 'gateway' })])
    await plane.put(['loadBalancer', loadBalancer(1)])
    await plane.put(['loadBalancer', loadBalancer(2, { network: 2 })])
    await plane.put(['node', node(3)])
    expect(seen[0]).toBe('group')
    const announce = (nodeId: string, number: number) =>
      (plane.entry(nodeId, `lb/${uuid('lb', number)}`) as LoadBalancerEntry).vips[0]?.announce
    expect([announce(N1, 1), announce(N2, 1)]).toEqual([
      { via: 'vrrp', shard: 1 },
      { via: 'vrrp', shard: 1 },
    ])
    expect(announce(N1, 2)).toEqual({ via: 'vrrp', shard: 2 })
    for (const nodeId of [N1, N2])
      expect((plane.entry(nodeId, 'domain/1') as DomainEntry).gateway).toEqual({ via: 'vrrp', shard: 1 })
    expect(plane.view.get('placement', LB)?.value).toMatchObject({
      ownerNodeId: null,
      shard: { nodeGroupId: GROUP, number: 1 },
      reason: { code: 'Placed' },
    })
    await plane.stop()
  })

  test('adding, removing, losing or draining a node changes only group entries', async () => {
    const plane = await cluster()
    for (const number of [1, 2, 3]) await plane.put(['loadBalancer', loadBalancer(number)])
    const placements = (await plane.store.list('placement')).items
    const seen: string[] = []
    plane.nodeStates.onChange(N1, (keys) => seen.push(...keys))
    await plane.put(['node', node(3)])
    await plane.put(['node', node(3, { scheduling: 'draining' })])
    await pass(plane, 6000, [N1])
    await plane.delete('node', uuid('node', 3))
    expect(new Set(seen)).toEqual(new Set(['group']))
    expect((plane.entry(N1, 'group') as GroupEntry).vrrp?.peers).toEqual(['192.0.2.2'])
    // Nothing was written again, not even with the same content.
    expect((await plane.store.list('placement')).items).toEqual(placements)
    expect(Object.keys(plane.published([uuid('node', 3)])[uuid('node', 3)]!)).toEqual([])
    await plane.stop()
  })

  test('a drained node yields while another is there', async () => {
    const plane = await cluster()
    await plane.put(['node', node(1, { scheduling: 'draining' })])
    expect((plane.entry(N1, 'group') as GroupEntry).vrrp?.yield).toBe(true)
    await pass(plane, 6000, [N1])
    expect((plane.entry(N1, 'group') as GroupEntry).vrrp?.yield).toBe(false)
    await plane.report(N2)
    expect((plane.entry(N1, 'group') as GroupEntry).vrrp?.yield).toBe(true)
    await plane.stop()
  })

  test("an agent's fabric address is stored and published to its neighbours; a taken one is refused", async () => {
    const plane = await cluster()
    await plane.put(['node', node(3, { seenFabricAddress: null })])
    const N3 = uuid('node', 3)
    expect(plane.entry(N3, 'group')).toMatchObject({ vrrp: null })
    expect(plane.status.node(N3).problems).toMatchObject([{ code: 'NoFabricAddress' }])
    await plane.report(N3, { fabricAddress: '192.0.2.1' })
    expect(plane.entry(N3, 'group')).toMatchObject({ vrrp: null })
    await plane.report(N3, { fabricAddress: '192.0.2.33' })
    expect(plane.entry(N3, 'group')).toMatchObject({ vrrp: { source: '192.0.2.33' } })
    expect((plane.entry(N1, 'group') as GroupEntry).vrrp?.peers).toEqual(['192.0.2.2', '192.0.2.33'])
    expect(plane.status.node(N3).problems).toEqual([])
    await plane.stop()
  })

  test('an address that is reported several times before it is stored is written once', async () => {
    const plane = await cluster()
    await plane.put(['node', node(3, { seenFabricAddress: null })])
    const asked = vi.spyOn(plane.admission, 'seeFabricAddress')
    const told = ['l4.tcp', 'l4.udp', 'l7.http'].map((feature) =>
      plane.report(uuid('node', 3), { fabricAddress: '192.0.2.33', features: [feature] }),
    )
    await Promise.all(told)
    expect(asked).toHaveBeenCalledTimes(1)
    expect(plane.view.get('node', uuid('node', 3))?.value.seenFabricAddress).toBe('192.0.2.33')
    await plane.stop()
  })

  test("a failed group entry is a problem of the node, with the announcer's message", async () => {
    const plane = await cluster()
    const refused = {
      key: 'group',
      hash: plane.nodeStates.get(N1, 'group')!.hash,
      state: 'failed' as const,
      reason: 'GroupRefused',
      message: 'fabric interface fab0 does not exist',
      announced: [],
    }
    await plane.report(N1, { entries: [refused] })
    expect(plane.status.node(N1).problems).toEqual([
      { code: 'GroupRefused', message: 'fabric interface fab0 does not exist' },
    ])
    await plane.report(N1, { entries: [{ ...refused, state: 'programmed', reason: null, message: null }] })
    expect(plane.status.node(N1).problems).toEqual([])
    await plane.stop()
  })

  test('a restart publishes the same bytes and writes nothing', async () => {
    const store = new MemoryStore()
    const plane = await cluster(store)
    for (const number of [1, 2, 3, 4])
      await plane.put(['loadBalancer', loadBalancer(number, { network: (number % 2) + 1 })])
    const before = plane.published([N1, N2])
    await plane.stop()
    const revision = await store.revision()
    const again = await ControlPlane.start(store)
    expect(again.published([N1, N2])).toEqual(before)
    await again.report(N2)
    await again.report(N1)
    expect(again.published([N1, N2])).toEqual(before)
    expect(await store.revision()).toBe(revision)
    await again.stop()
  })

  test('a group that changes its announcer changes its entries both ways; fewer shards move what was in the others', async () => {
    const plane = await cluster()
    await plane.put(['loadBalancer', loadBalancer(1)], ['loadBalancer', loadBalancer(2, { network: 2 })])
    const announces = () =>
      [N1, N2].map((id) =>
        [1, 2].map((number) => (plane.entry(id, `lb/${uuid('lb', number)}`) as LoadBalancerEntry).vips[0]?.announce),
      )
    const settled = announces()
    await plane.put(['nodeGroup', vrrpGroup(1, 1)])
    expect(
      new Set(
        announces()
          .flat()
          .map((one) => JSON.stringify(one)),
      ),
    ).toEqual(new Set(['{"via":"vrrp","shard":1}']))
    await plane.put(['nodeGroup', nodeGroup(1)])
    expect(
      announces()
        .flat()
        .filter((one) => one?.via === 'l2'),
    ).toHaveLength(2)
    expect(plane.entry(N1, 'group')).toBeNull()
    await plane.put(['nodeGroup', vrrpGroup(1)])
    expect(announces()).toEqual(settled)
    expect(plane.view.get('placement', LB)?.value.ownerNodeId).toBeNull()
    await plane.stop()
  })

  test('bgp with return path snat: the shard’s master announces what the kernel translates, every node what is proxied', async () => {
    const plane = await cluster()
    const bgp = { localAs: 64_500, policy: 'always' as const, drainSeconds: 5 }
    await plane.put(['loadBalancer', loadBalancer(1)], ['nodeGroup', vrrpGroup(1, 2, { announcer: 'bgp', bgp })])
    const announce = (nodeId: string) => (plane.entry(nodeId, KEY) as LoadBalancerEntry).vips[0]?.announce
    for (const nodeId of [N1, N2]) expect(announce(nodeId)).toMatchObject({ via: 'bgp', shard: 1 })
    const changed = { ...proxied(1), generation: 2 }
    await plane.put(['loadBalancer', changed])
    for (const nodeId of [N1, N2]) expect(announce(nodeId)).toMatchObject({ via: 'bgp', shard: null })
    await plane.stop()
  })

  test("bgp: every node announces with the pool's advertisement and the group's policy", async () => {
    const plane = await cluster()
    const bgp = { localAs: 64_500, policy: 'always' as const, drainSeconds: 5 }
    await plane.put(['loadBalancer', proxied(1)], ['nodeGroup', vrrpGroup(1, 2, { announcer: 'bgp', bgp })])
    const announce = () => (plane.entry(N1, KEY) as LoadBalancerEntry).vips[0]?.announce
    expect(announce()).toEqual({ via: 'bgp', advertisement: 1, policy: 'always', shard: null })
    const { id } = await plane.admission.createBgpAdvertisement({ name: 'all', communities: ['64500:7'] })
    await plane.idle()
    expect(announce()).toEqual({ via: 'bgp', advertisement: 2, policy: 'always', shard: null })
    expect((plane.entry(N2, 'group') as GroupEntry).bgp?.advertisements).toHaveLength(2)
    await plane.admission.deleteBgpAdvertisement(id)
    await plane.admission.changeNodeGroup(GROUP, { bgp: { policy: 'healthy' } })
    await plane.idle()
    expect(announce()).toEqual({ via: 'bgp', advertisement: 1, policy: 'healthy', shard: null })
    await plane.admission.setNodeScheduling(N1, 'draining')
    await plane.idle()
    await plane.confirmAll(N2)
    expect((plane.entry(N1, 'group') as GroupEntry).bgp?.drain).toBe('prefer-others')
    await pass(plane, 5500, [N1, N2])
    expect((plane.entry(N1, 'group') as GroupEntry).bgp?.drain).toBe('withdrawn')
    await plane.stop()
  })
})

describe('what becomes of a load balancer in a shard', () => {
  test('active once the master of its shard programmed and announces it, not before; backups need only program it', async () => {
    const plane = await cluster()
    await plane.put(['loadBalancer', loadBalancer(1)])
    expect(status(plane)).toBe('pending NoOwner')
    await plane.report(N2, { shards: [shard(1, 'backup')], entries: [programmed(plane, N2, [])] })
    expect(status(plane)).toBe('pending NoOwner')
    await plane.report(N1, { shards: [shard(1, 'master')] })
    expect(status(plane)).toBe('pending WaitingForNode')
    await plane.report(N1, { entries: [programmed(plane, N1, [])] })
    expect(status(plane)).toBe('pending WaitingForAnnouncement')
    await plane.report(N1, { entries: [programmed(plane, N1, [VIP])] })
    expect(plane.status.loadBalancer(LB)).toMatchObject({
      provisioning: 'active',
      message: 'Shard 1 of group `default`; node `n1` is its master',
      ownerNodeId: N1,
      confirmedGeneration: 1,
    })
    expect(plane.status.loadBalancer(LB).nodes.map((one) => one.state)).toEqual(['programmed', 'programmed'])
    await plane.stop()
  })

  /** One load balancer, with n1 as master and n2 as backup. */
  async function carried(): Promise<ControlPlane> {
    const plane = await cluster()
    await plane.put(['loadBalancer', loadBalancer(1)])
    await plane.report(N2, { shards: [shard(1, 'backup')], entries: [programmed(plane, N2, [])] })
    await plane.report(N1, { shards: [shard(1, 'master')], entries: [programmed(plane, N1, [VIP])] })
    return plane
  }

  test('a master that took over wins over a dead one: it stays active, and the history shows the move', async () => {
    const plane = await carried()
    const takeovers: (number | null)[] = []
    plane.status.onTakeover(({ durationMs }) => takeovers.push(durationMs))
    const since = '2026-01-01T00:00:20.000Z'
    const lastMove = { at: since, from: 'backup', to: 'master', reason: 'MasterSilent', silentMs: 83 } as const
    await plane.report(N2, { shards: [shard(1, 'master', { since, takeovers: 1, lastMove })] })
    expect(status(plane)).toBe('active Moving')
    await plane.report(N2, { entries: [programmed(plane, N2, [VIP])] })
    expect(status(plane)).toBe('active Programmed')
    await pass(plane, 8000, [N2])
    expect(status(plane)).toBe('active Programmed')
    expect(plane.status.loadBalancer(LB).ownerNodeId).toBe(N2)
    expect(plane.status.history(LB, VIP).at(-1)).toEqual({
      at: since,
      event: 'taken',
      nodeId: N2,
      fromNodeId: N1,
      reason: 'MasterSilent',
      durationMs: 83,
    })
    expect(takeovers).toEqual([83])
    expect(plane.status.shard(GROUP, 1)).toMatchObject({ state: 'settled', masterNodeIds: [N2] })
    await plane.stop()
  })

  test("it is active throughout a hand-over; the duration is between the two nodes' reports", async () => {
    const plane = await carried()
    await plane.report(N1, {
      shards: [shard(1, 'backup', { since: '2026-01-01T00:00:30.000Z' })],
      entries: [programmed(plane, N1, [])],
    })
    expect(status(plane)).toBe('active Moving')
    await plane.report(N2, { shards: [shard(1, 'master', { since: '2026-01-01T00:00:30.012Z' })] })
    await plane.report(N2, { entries: [programmed(plane, N2, [VIP])] })
    expect(status(plane)).toBe('active Programmed')
    expect(plane.status.history(LB, VIP).slice(-2)).toMatchObject([
      { event: 'released', nodeId: N1 },
      { event: 'taken', nodeId: N2, fromNodeId: N1, durationMs: 12 },
    ])
    await plane.stop()
  })

  test('a move that does not end is shown after a moment; no owner is an alarm', async () => {
    const plane = await carried()
    await plane.report(N1, { shards: [shard(1, 'fault', { since: '2026-01-01T00:00:30.000Z' })] })
    expect([status(plane), plane.status.shard(GROUP, 1)?.state]).toEqual(['active Moving', 'moving'])
    const heard: string[] = []
    plane.status.onChange((kind, id) => heard.push(`${kind} ${id}`))
    await pass(plane, 2500, [N1, N2])
    expect([status(plane), plane.status.shard(GROUP, 1)?.state]).toEqual(['pending NoOwner', 'no-owner'])
    expect(heard).toContain(`loadBalancer ${LB}`)
    await plane.stop()
  })

  test('two masters that keep claiming are an alarm, which ends when one gives way', async () => {
    const plane = await carried()
    await plane.report(N2, { shards: [shard(1, 'master', { since: '2026-01-01T00:00:20.000Z' })] })
    await plane.report(N2, { entries: [programmed(plane, N2, [VIP])] })
    expect(plane.status.shard(GROUP, 1)?.state).toBe('settled')
    await pass(plane, 1500, [N1, N2])
    expect(plane.status.shard(GROUP, 1)).toMatchObject({ state: 'two-owners', masterNodeIds: [N1, N2] })
    expect(status(plane)).toBe('error TwoOwners')
    await plane.report(N1, { shards: [shard(1, 'backup', { since: '2026-01-01T00:00:40.000Z' })] })
    expect(status(plane)).toBe('active Programmed')
    await plane.stop()
  })

  test('a returning node confirms nothing from before it died until it reports its shards', async () => {
    const plane = await carried()
    await plane.report(N2, { shards: [shard(1, 'master', { since: '2026-01-01T00:00:20.000Z' })] })
    await plane.report(N2, { entries: [programmed(plane, N2, [VIP])] })
    await pass(plane, 2000, [N2])
    const settled = { state: 'settled', masterNodeIds: [N2] }
    await plane.report(N1, { session: 'restarted', sequence: 1, inSync: false })
    expect(plane.status.shard(GROUP, 1)).toMatchObject(settled)
    const stopped = [shard(1, 'stopped', { since: '2026-01-01T00:00:40.000Z' })]
    await plane.report(N1, { session: 'restarted', sequence: 2, inSync: false, shards: stopped })
    expect(plane.status.shard(GROUP, 1)).toMatchObject(settled)
    await plane.stop()
  })

  test('a silent master stays owner while no node takes over; a new session without shards ends that', async () => {
    const plane = await carried()
    await pass(plane, 7000, [N2])
    expect(status(plane)).toBe('active Programmed')
    expect(plane.status.node(N1).connection).toBe('disconnected')
    await plane.report(N1, { session: 'restarted', sequence: 1, inSync: false })
    expect(plane.status.shard(GROUP, 1)?.ownerNodeId).toBe(N1)
    await plane.report(N1, { session: 'restarted', sequence: 2, inSync: true })
    expect(plane.status.shard(GROUP, 1)?.ownerNodeId).toBeNull()
    await plane.delete('node', N1)
    expect(plane.status.shard(GROUP, 1)?.nodes.map(({ nodeId }) => nodeId)).toEqual([N2])
    await plane.stop()
  })

  test('bgp with return path gateway: the master of its shard is the one that counts, and its moves are the shard’s', async () => {
    const plane = await cluster()
    const bgp = { localAs: 64_500, policy: 'always' as const, drainSeconds: 5 }
    await plane.put(['network', network(1, { returnPath: 'gateway' })])
    await plane.put(['nodeGroup', vrrpGroup(1, 2, { announcer: 'bgp', bgp })], ['loadBalancer', loadBalancer(1)])
    await plane.report(N2, { shards: [shard(1, 'backup')], entries: [programmed(plane, N2, [VIP])] })
    expect(status(plane)).toBe('pending NoOwner')
    await plane.report(N1, { shards: [shard(1, 'master')], entries: [programmed(plane, N1, [VIP])] })
    expect(status(plane)).toBe('active Programmed')
    expect(plane.status.loadBalancer(LB).ownerNodeId).toBe(N1)
    const since = '2026-01-01T00:00:20.000Z'
    const lastMove = { at: since, from: 'backup', to: 'master', reason: 'MasterSilent', silentMs: 83 } as const
    await plane.report(N2, { shards: [shard(1, 'master', { since, takeovers: 1, lastMove })] })
    expect(plane.status.loadBalancer(LB).ownerNodeId).toBe(N2)
    expect(plane.status.history(LB, VIP).at(-1)).toMatchObject({ event: 'taken', nodeId: N2, fromNodeId: N1 })
    await plane.stop()
  })

  test('bgp: one node that announces is enough; policy healthy does not wait for an announcement', async () => {
    const plane = await cluster()
    const bgp = { localAs: 64_500, policy: 'healthy' as const, drainSeconds: 5 }
    await plane.put(['nodeGroup', vrrpGroup(1, 2, { announcer: 'bgp', bgp })], ['loadBalancer', proxied(1)])
    expect(status(plane)).toBe('pending WaitingForNode')
    await plane.report(N1, { entries: [programmed(plane, N1, [])] })
    expect(status(plane)).toBe('active Withheld')
    await plane.report(N1, { entries: [programmed(plane, N1, [VIP])] })
    expect(status(plane)).toBe('active Programmed')
    expect(plane.status.loadBalancer(LB).ownerNodeId).toBeNull()
    const failed = { ...programmed(plane, N2, []), state: 'failed' as const, reason: 'KernelRefused', message: 'no' }
    await plane.report(N2, { entries: [failed] })
    expect(status(plane)).toBe('active Programmed')
    expect(plane.status.node(N1).announced).toBe(1)
    await plane.report(N1, { entries: [{ ...failed, hash: programmed(plane, N1, []).hash }] })
    expect(status(plane)).toBe('error KernelRefused')
    expect(plane.status.history(LB, VIP)).toMatchObject([
      { event: 'taken', nodeId: N1, fromNodeId: null },
      { event: 'released', nodeId: N1 },
    ])
    await plane.stop()
  })

  test('a node announces the VIPs of shards that it masters and those without a shard; others it holds ready', async () => {
    const plane = await cluster()
    const announced = () => [N1, N2].map((id) => plane.status.node(id).announced)
    await plane.put(['loadBalancer', loadBalancer(1)])
    await plane.report(N1, { shards: [shard(1, 'master')], entries: [programmed(plane, N1, [VIP])] })
    await plane.report(N2, { shards: [shard(1, 'backup')], entries: [programmed(plane, N2, [VIP])] })
    expect(announced()).toEqual([1, 0])
    await plane.report(N2, { shards: [shard(1, 'master')] })
    await plane.report(N1, { shards: [shard(1, 'backup')] })
    expect(announced()).toEqual([0, 1])
    await plane.put(['nodeGroup', nodeGroup(1)])
    await plane.confirmAll(N1)
    await plane.confirmAll(N2)
    expect(announced().reduce((sum, count) => sum + count)).toBe(1)
    await plane.delete('loadBalancer', LB)
    expect(announced()).toEqual([0, 0])
    await plane.stop()
  })

  test('l2: the history of an address follows the planner’s owners', async () => {
    const plane = await cluster()
    await plane.put(['nodeGroup', nodeGroup(1)], ['loadBalancer', loadBalancer(1)])
    await plane.confirmAll(N1)
    await plane.put(['node', node(1, { scheduling: 'draining' })])
    await plane.confirmAll(N1)
    await plane.clock.advance(20)
    await plane.confirmAll(N2)
    expect(plane.status.history(LB, VIP)).toMatchObject([
      { event: 'taken', nodeId: N1, fromNodeId: null },
      { event: 'released', nodeId: N1 },
      { event: 'taken', nodeId: N2, fromNodeId: N1, reason: 'NodeDrained', durationMs: 20 },
    ])
    await plane.stop()
  })
})
