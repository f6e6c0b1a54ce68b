import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOST_SEGMENTS, openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string
let poolId: string
let nodeGroupId: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  const ranges = [{ first: '198.51.100.16', last: '198.51.100.250' }]
  poolId = (await call('POST', '/address-pools', { name: 'public', ranges, cidr: '198.51.100.0/24' })).id
  nodeGroupId = (await call('POST', '/node-groups', { name: 'default', announcer: 'vrrp' })).id
})
afterAll(() => bed.close())

async function call(method: 'GET' | 'POST', path: string, payload?: object) {
  const { status, body } = await bed.askNative(method, path, admin, payload)
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}

async function enrol(name: string): Promise<void> {
  const id = randomUUID()
  const at = '2026-01-01T00:00:00.000Z'
  const value = {
    ...{ id, name, description: '', createdAt: at, updatedAt: at, nodeGroupId, certificateSha256: 'a'.repeat(64) },
    ...{ scheduling: 'enabled', schedulingSince: null, drainedSince: null },
    ...{ fabricAddress: null, seenFabricAddress: null },
  }
  await bed.store.commit([{ op: 'put', kind: 'node', id, scope: null, value, ifRevision: 'absent' }])
  await expect.poll(() => bed.view.get('node', id)).not.toBeNull()
}

/** What is said of connections of a load balancer in shard 1 with members in this physical network. */
async function connectionsIn(physicalNetwork: string, number: number): Promise<string> {
  const segment = { physicalNetwork, vlan: null }
  const network = await call('POST', '/networks', { name: physicalNetwork, returnPath: 'snat', segment })
  await call('POST', `/networks/${network.id}/subnets`, { cidr: `10.${number}.0.0/24`, gatewayIp: `10.${number}.0.1` })
  const pools = [{ name: 'p', protocol: 'tcp', members: [{ address: `10.${number}.0.11`, port: 80 }] }]
  const listeners = [{ protocol: 'tcp', port: 80, defaultPool: 'p' }]
  const made = await call('POST', '/load-balancers', { vips: [{ from: 'pool', poolId }], pools, listeners })
  const { id, networkId, createdAt, updatedAt } = made
  expect(networkId).toBe(network.id)
  const placed = {
    ...{ id, name: '', description: '', createdAt, updatedAt, networkId, ownerNodeId: null, pools: [] },
    ...{ shard: { nodeGroupId, number: 1 }, reason: { code: 'Placed', message: '' } },
  }
  await bed.store.commit([{ op: 'put', kind: 'placement', id, scope: null, value: placed, ifRevision: 'absent' }])
  await expect.poll(() => bed.view.get('placement', id)).not.toBeNull()
  return (await call('GET', `/load-balancers/${id}/explain`)).connections
}

test('connections outlive a node where members see a shared address, and not where members see each node', async () => {
  for (const name of ['n1', 'n2']) await enrol(name)
  expect(await connectionsIn('physnet1', 7)).toMatch(/replicated.*established connections outlive a node/)
  expect(await connectionsIn(HOST_SEGMENTS[0], 8)).toMatch(/known to their node alone.*end with it/)
})
