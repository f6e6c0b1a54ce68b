import { type DomainEntry, type Listener, type LoadBalancer, loadBalancerKey, type Network } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { expect, test, vi } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, poolProtocolFor, uuid, vrrpGroup } from '../testing/model.ts'

const NODE = uuid('node', 1)

async function oneNode() {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', vrrpGroup(1)], ['node', node(1)], ['network', network(1)])
  await plane.report(NODE)
  return {
    plane,
    isUntracked: () => (plane.entry(NODE, 'domain/1') as DomainEntry).untracked === true,
    /** Stores the load balancer with this change of its only listener; null: without a listener. */
    put: (number: number, change: Partial<Listener> | null) => {
      const { listeners, pools, ...rest } = loadBalancer(number)
      const changed: LoadBalancer = {
        ...rest,
        listeners: change === null ? [] : listeners.map((listener) => ({ ...listener, ...change })),
        pools: pools.map((pool) => ({
          ...pool,
          protocol: change?.protocol ? poolProtocolFor(change.protocol) : pool.protocol,
        })),
      }
      return plane.put(['loadBalancer', changed])
    },
  }
}

test('a network is untracked while all its listeners are proxied', async () => {
  const { plane, isUntracked, put } = await oneNode()
  await put(1, null)
  expect(isUntracked()).toBe(false)
  await put(1, { protocol: 'http' })
  expect(isUntracked()).toBe(true)
  await put(2, null)
  expect(isUntracked()).toBe(true)
  await put(2, { protocol: 'tcp' })
  expect(isUntracked()).toBe(false)
  await put(2, { protocol: 'tcp-proxy' })
  expect(isUntracked()).toBe(true)
  await plane.stop()
})

test.each<[string, Partial<Listener>]>([
  ['counts its connections', { connectionLimit: 10 }],
  ['lists its clients', { allowedCidrs: ['198.51.100.0/24'] }],
])('a network is tracked if a proxied listener %s', async (_what, change) => {
  const { plane, isUntracked, put } = await oneNode()
  await put(1, { protocol: 'http', ...change })
  expect(isUntracked()).toBe(false)
  await put(1, { protocol: 'http' })
  expect(isUntracked()).toBe(true)
  await plane.stop()
})

test('rules of security groups reach nodes when they change, and the network is tracked', async () => {
  const { plane, isUntracked, put } = await oneNode()
  await put(1, { protocol: 'http' })
  const rule = {
    ...{ id: uuid('other', 1), description: '', createdAt: '2026-01-31T12:00:00.000Z' },
    ...{ ipVersion: 4, transport: 'tcp', ports: null, cidr: '198.51.100.0/24' },
  } as const
  const { listeners, pools, ...rest } = loadBalancer(1)
  const proxied = listeners.map((listener) => ({ ...listener, protocol: 'http' as const }))
  const httpPools = pools.map((pool) => ({ ...pool, protocol: 'http' as const }))
  const group = (rules: readonly object[]) => ({
    ...{ id: uuid('other', 2), name: 'g', description: '', createdAt: '2026-01-31T12:00:00.000Z', updatedAt: null },
    ...{ projectId: rest.projectId, tags: [], rules },
  })
  const sources = () => {
    const entry = plane.entry(NODE, loadBalancerKey(rest.id))
    return entry?.kind === 'load-balancer' ? entry.services[0]?.allowedCidrs : undefined
  }
  await plane.put(['securityGroup', group([])])
  const guarded: LoadBalancer = { ...rest, listeners: proxied, pools: httpPools, securityGroupIds: [uuid('other', 2)] }
  await plane.put(['loadBalancer', guarded])
  expect(sources()).toEqual([])
  expect(isUntracked()).toBe(false)
  await plane.put(['securityGroup', group([rule])])
  expect(sources()).toEqual(['198.51.100.0/24'])
  await put(1, { protocol: 'http' })
  expect(sources()).toBeNull()
  await plane.stop()
})

test('a network with return path dsr is never tracked, and needs no other guard for it', async () => {
  const { plane, isUntracked, put } = await oneNode()
  const direct: Network = { ...network(1), returnPath: 'dsr' }
  await plane.put(['network', direct])
  await put(1, { protocol: 'http' })
  expect(isUntracked()).toBe(false)
  await plane.stop()
})

test("a load balancer waits until its network's domain is published, even if that takes long", async () => {
  const { plane, isUntracked, put } = await oneNode()
  await put(1, { protocol: 'http' })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const ensure = plane.admission.ensureNodeAddresses.bind(plane.admission)
  vi.spyOn(plane.admission, 'ensureNodeAddresses').mockImplementationOnce(() => held.then(ensure))
  // A new node, whose addresses are not found yet. All plans for the network wait for them.
  const changes = [plane.put(['node', node(2)])]
  for (const number of [2, 3]) changes.push(put(number, { protocol: 'tcp' }))
  await expect.poll(() => plane.view.get('loadBalancer', loadBalancer(3).id)).not.toBeNull()
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(isUntracked()).toBe(true)
  const told = () =>
    [...plane.nodeStates.entries(NODE)].flatMap(({ entry }) => (entry.kind === 'load-balancer' ? [entry.id] : []))
  expect(told()).toEqual([loadBalancer(1).id])
  release()
  await Promise.all(changes)
  expect(told().toSorted()).toEqual([1, 2, 3].map((number) => loadBalancer(number).id).toSorted())
  expect(isUntracked()).toBe(false)
  await plane.stop()
})
