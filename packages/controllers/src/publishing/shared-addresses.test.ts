import type { DomainEntry, GroupEntry } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, uuid, vrrpGroup } from '../testing/model.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)
const NETWORK = uuid('network', 1)
const flowsKey = 'c3'.repeat(32)

test("members see one address that moves with the shard; in an l2 group each node's own", async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', vrrpGroup(1, 2, { flowsKey })], ['node', node(1)], ['node', node(2)])
  await plane.put(['network', network(1)])
  await plane.report(N1)
  await plane.report(N2)
  await plane.put(['loadBalancer', loadBalancer(1)])
  const domain = (nodeId: string) => plane.entry(nodeId, 'domain/1') as DomainEntry
  const [first, second] = [domain(N1), domain(N2)]
  expect(first.gateway).toEqual({ via: 'vrrp', shard: 1 })
  expect(second.gateway).toEqual(first.gateway)
  const shared = first.subnets[0]?.sharedAddress
  expect(shared).toMatch(/^10\.0\.0\./)
  expect(second.subnets[0]?.sharedAddress).toBe(shared)
  expect(new Set([shared, first.subnets[0]?.nodeAddress, second.subnets[0]?.nodeAddress]).size).toBe(3)
  const owners = plane.view.list('address').filter(({ address }) => address === shared)
  expect(owners).toMatchObject([{ use: 'node', ownerId: NETWORK }])
  const flows = { source: '192.0.2.1', peers: ['192.0.2.2'], port: 7300, key: flowsKey }
  expect((plane.entry(N1, 'group') as GroupEntry).flows).toEqual(flows)

  // The network keeps it when nodes get their addresses again.
  await plane.admission.ensureNodeAddresses()
  expect(plane.admission.sharedAddresses(NETWORK).size).toBe(1)

  const bgp = { localAs: 64_500, policy: 'always' as const, drainSeconds: 5 }
  await plane.put(['nodeGroup', vrrpGroup(1, 2, { flowsKey, announcer: 'bgp', bgp })])
  expect(domain(N1)).toMatchObject({ gateway: { via: 'vrrp', shard: 1 }, subnets: [{ sharedAddress: shared }] })
  expect((plane.entry(N1, 'group') as GroupEntry).flows).toEqual(flows)

  await plane.put(['nodeGroup', vrrpGroup(1, 2, { flowsKey, announcer: 'l2' })])
  expect(domain(N1)).toMatchObject({ gateway: null, subnets: [{ sharedAddress: null }] })
  expect(plane.entry(N1, 'group')).toBe(null)
  await plane.stop()
})

test('members behind the nodes themselves see each node, in every group', async () => {
  const plane = await ControlPlane.start(new MemoryStore(), undefined, ['cluster'])
  await plane.put(['nodeGroup', vrrpGroup(1, 2, { flowsKey })], ['node', node(1)], ['node', node(2)])
  await plane.put(['network', network(1, { segment: { physicalNetwork: 'cluster', vlan: null } })])
  await plane.report(N1)
  await plane.report(N2)
  await plane.put(['loadBalancer', loadBalancer(1)])
  for (const id of [N1, N2])
    expect(plane.entry(id, 'domain/1')).toMatchObject({ gateway: null, subnets: [{ sharedAddress: null }] })
  expect(plane.admission.sharedAddresses(NETWORK).size).toBe(0)
  await plane.confirmAll(N1, { shards: [1, 2].map((number) => master(number)) })
  await plane.confirmAll(N2)
  expect(plane.plans.forecastDrain(N1).connections).toMatchObject([{ code: 'LedBack', fate: 'stay' }])
  await plane.stop()
})

const master = (number: number) =>
  ({ number, state: 'master', since: '2026-01-01T00:00:00.000Z', takeovers: 0, lastMove: null }) as const
