import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string
let poolId: string
let nodeGroupId: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  const ranges = [{ first: '198.51.100.16', last: '198.51.100.250' }]
  poolId = (await call('POST', '/address-pools', { name: 'public', ranges, cidr: '198.51.100.0/24' })).id
  const bgp = { localAs: 64_500, policy: 'always' }
  nodeGroupId = (await call('POST', '/node-groups', { name: 'default', announcer: 'bgp', bgp })).id
})
afterAll(() => bed.close())

async function call(method: 'GET' | 'POST', path: string, payload?: object) {
  const { status, body } = await bed.askNative(method, path, admin, payload)
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}

/** The address of a load balancer that both nodes took on, in shard 2, of which n1 is master. */
async function vipIn(returnPath: 'gateway' | 'snat', protocol: 'tcp' | 'http', vlan: number): Promise<string> {
  const segment = { physicalNetwork: 'physnet1', vlan }
  const network = await call('POST', '/networks', { name: `n${vlan}`, returnPath, segment })
  await call('POST', `/networks/${network.id}/subnets`, { cidr: `10.${vlan}.0.0/24`, gatewayIp: `10.${vlan}.0.1` })
  const pools = [{ name: 'p', protocol, members: [{ address: `10.${vlan}.0.11`, port: 80 }] }]
  const listeners = [{ protocol, port: 80, defaultPool: 'p' }]
  const made = await call('POST', '/load-balancers', { vips: [{ from: 'pool', poolId }], pools, listeners })
  const { id, networkId, createdAt, updatedAt } = made
  expect(networkId).toBe(network.id)
  const placed = {
    ...{ id, name: '', description: '', createdAt, updatedAt, networkId, ownerNodeId: null, pools: [] },
    shard: { nodeGroupId, number: 2 },
    reason: { code: 'Placed', message: '' },
  }
  await bed.store.commit([{ op: 'put', kind: 'placement', id, scope: null, value: placed, ifRevision: 'absent' }])
  await expect.poll(() => bed.view.get('placement', id)).not.toBeNull()
  const [{ address }] = made.vips
  const said = { connection: 'connected', state: 'programmed', message: null, announced: [address] } as const
  bed.status.set(id, { nodes: ['n1', 'n2'].map((name) => ({ nodeId: name, nodeName: name, ...said })) })
  return address
}

test('bgp: every node announces an address, except where members reply to one node: then only that one', async () => {
  bed.ownership.all.push({
    nodeGroupId,
    number: 2,
    state: 'settled',
    ownerNodeId: 'n1',
    masterNodeIds: ['n1'],
    nodes: [],
  })
  const proxied = await vipIn('snat', 'http', 7)
  expect(await call('GET', `/vips/${proxied}`)).toMatchObject({ announcer: 'bgp', shard: null, owners: ['n1', 'n2'] })
  const translated = await vipIn('snat', 'tcp', 9)
  expect(await call('GET', `/vips/${translated}`)).toMatchObject({ announcer: 'bgp', shard: 2, owners: ['n1'] })
  const held = await vipIn('gateway', 'tcp', 8)
  expect(await call('GET', `/vips/${held}`)).toMatchObject({ announcer: 'bgp', shard: 2, owners: ['n1'] })
  const explained = await call('GET', `/vips/${held}/explain`)
  expect(explained).toMatchObject({ policy: 'always', shardState: { state: 'settled' } })
})
