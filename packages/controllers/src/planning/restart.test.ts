import { type DomainEntry, GROUP_KEY } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyChange } from '../testing/any-change.ts'
import { ChangingCluster, NODE_IDS } from '../testing/changing-cluster.ts'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, pool, uuid, vrrpGroup } from '../testing/model.ts'

/** The entries without `group`: who can announce, and which shards have moved, is known once the nodes have reported. */
const ofTenants = (published: ReturnType<ControlPlane['published']>) =>
  Object.values(published).map(({ [GROUP_KEY]: _, ...rest }) => rest)

/** On a busy machine. */
const LONGEST_MS = byLength(120_000, 900_000)

test('whatever the changes, a restarted control plane plans and publishes the same as the running one', {
  timeout: LONGEST_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyChange, { maxLength: 30, size: 'max' }), async (changes) => {
      const store = new MemoryStore()
      const running = await ChangingCluster.begin(await ControlPlane.start(store))
      for (const change of changes) await running.change(change)
      // From then on no drain or move waits for nodes to confirm, so that only what is stored holds it back.
      await running.pass(12_000)
      await running.settle()
      const published = running.plane.published(NODE_IDS)
      const placements = running.plane.view.list('placement')
      const revision = await store.revision()
      await running.plane.stop()
      const again = running.under(await ControlPlane.start(store, running.plane.clock))
      expect(ofTenants(again.plane.published(NODE_IDS))).toEqual(ofTenants(published))
      await again.settle()
      // Two masters of a shard are a conflict only after a second.
      await again.pass(2000)
      expect(await store.revision()).toBe(revision)
      expect(again.plane.published(NODE_IDS)).toEqual(published)
      expect(again.plane.view.list('placement')).toEqual(placements)
      await again.plane.stop()
    }),
    { numRuns: byLength(60, 300) },
  )
})

test('what no node offers is said in the same words while nodes report one after the other after a restart', async () => {
  const store = new MemoryStore()
  const running = await ChangingCluster.begin(await ControlPlane.start(store))
  await running.change({ do: 'put group', number: 1, announcer: 'vrrp', shards: 1, policy: 'always' })
  await running.change({ do: 'report features', number: 1, features: ['l4.tcp'] })
  await running.change({ do: 'report features', number: 2, features: ['l4.tcp', 'l4.member-nodes'] })
  await running.change({ do: 'put network', number: 1, returnPath: 'node' })
  const sctp = { protocol: 'sctp', connectionLimit: null, scope: 'fabric', addressPool: 1, members: [] } as const
  await running.change({ do: 'put load balancer', number: 1, network: 1, group: null, ...sctp, securityGroups: [] })
  await running.settle()
  const placement = running.plane.view.get('placement', uuid('lb', 1))
  expect(placement?.value.reason.message).toBe('No node of group `default` offers l4.sctp.')
  await running.plane.stop()
  const again = running.under(await ControlPlane.start(store))
  await again.settle()
  expect(again.plane.view.get('placement', uuid('lb', 1))).toEqual(placement)
  await again.plane.stop()
})

test('of two groups that carry a network the first one holds its gateways, also after a restart', async () => {
  const store = new MemoryStore()
  const plane = await ControlPlane.start(store)
  await plane.put(['nodeGroup', vrrpGroup(1)], ['nodeGroup', vrrpGroup(2, 2, { name: 'edge' })])
  await plane.put(['node', node(1)], ['node', node(2, { nodeGroupId: uuid('group', 2) })], ['network', network(1)])
  const inEdge = { nodeGroupId: uuid('group', 2) }
  const gateway = (number: number) => (plane.entry(uuid('node', number), 'domain/1') as DomainEntry).gateway
  // It is placed before the other one, but joins the network after it.
  await plane.put(['loadBalancer', loadBalancer(1, { ...inEdge, networkId: null })])
  await plane.clock.advance(500)
  await plane.put(['loadBalancer', loadBalancer(2)])
  await plane.clock.advance(500)
  await plane.put(['loadBalancer', loadBalancer(1, { ...inEdge, generation: 2 })])
  expect([gateway(1), gateway(2)]).toEqual([{ via: 'vrrp', shard: 1 }, null])
  const published = plane.published(NODE_IDS)
  await plane.stop()
  const again = await ControlPlane.start(store, plane.clock)
  expect(again.published(NODE_IDS)).toEqual(published)
  await again.stop()
})

test('load balancers stay with the gateway of their network while another that cannot changes', async () => {
  const store = new MemoryStore()
  const plane = await ControlPlane.start(store)
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)])
  await plane.put(['network', network(1, { returnPath: 'gateway' })])
  const features = new Map([
    [1, ['l4.tcp']],
    [2, ['l4.tcp', 'l4.udp']],
  ])
  const report = async (to: ControlPlane) => {
    for (const [number, offered] of features) await to.report(uuid('node', number), { features: offered })
  }
  await report(plane)
  const owner = (number: number) => plane.view.get('placement', uuid('lb', number))?.value.ownerNodeId
  const gateway = (number: number) => (plane.entry(uuid('node', number), 'domain/1') as DomainEntry).gateway
  const udp = (members: readonly string[]) => {
    const { listeners, pools, ...rest } = loadBalancer(3)
    return {
      ...rest,
      listeners: listeners.map((listener) => ({ ...listener, protocol: 'udp' as const })),
      pools: pools.map(() => ({ ...pool(3, members), protocol: 'udp' as const })),
    }
  }
  for (const number of [1, 2]) await plane.put(['loadBalancer', loadBalancer(number)])
  await plane.put(['loadBalancer', udp(['10.0.0.11'])])
  await plane.put(['loadBalancer', udp(['10.0.0.11', '10.0.0.12'])])
  expect([1, 2, 3].map(owner)).toEqual([uuid('node', 1), uuid('node', 1), uuid('node', 2)])
  expect([gateway(1), gateway(2)]).toEqual([{ via: 'l2' }, null])
  const published = plane.published(NODE_IDS)
  await plane.stop()
  const again = await ControlPlane.start(store)
  await report(again)
  expect(again.published(NODE_IDS)).toEqual(published)
  await again.stop()
})
