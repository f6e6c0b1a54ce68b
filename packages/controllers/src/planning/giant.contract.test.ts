import type { LoadBalancer, LoadBalancerEntry } from '@spout/model'
import { decodeSlots } from '@spout/plan'
import { MemoryStore } from '@spout/store'
import { recordFault } from '@spout/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, node, nodeGroup, pool, uuid } from '../testing/model.ts'

const NODE = uuid('node', 1)
/** The largest table has so many slots, so at most so many members get traffic. */
const MOST_MEMBERS = 4096
const POOLS = 10

let plane: ControlPlane
let projectId: string
let addressPoolId: string

beforeEach(async () => {
  plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)])
  await plane.report(NODE)
  const { admission } = plane
  projectId = (await admission.createProject({ name: 'giant', description: '' })).id
  const network = await admission.createNetwork({
    ...{ projectId, name: 'net', description: '', returnPath: 'snat' },
    segment: { physicalNetwork: 'giant', vlan: null },
  })
  const subnet = { name: '', description: '', cidr: '10.0.0.0/16', gatewayIp: null, nodeRange: null }
  await admission.addSubnet(network.id, subnet)
  const addresses = await admission.createAddressPool({
    ...{ name: 'public', description: '', cidr: '192.0.2.0/24', gatewayIp: null, projectIds: null },
    ...{ ranges: [{ first: '192.0.2.10', last: '192.0.2.20' }], quarantineSeconds: 0 },
  })
  addressPoolId = addresses.id
  await plane.idle()
})
afterEach(() => plane.stop())

const addressOf = (index: number): string => `10.0.${100 + Math.floor(index / 200)}.${1 + (index % 200)}`
function poolOf(number: number, count: number): LoadBalancer['pools'][number] {
  const addresses = Array.from({ length: count }, (_, index) => addressOf(index))
  const { members, ...rest } = pool(number, addresses)
  const apart = (index: number) => ({ id: uuid('member', number * 100_000 + index), port: 8000 + number })
  return { ...rest, members: members.map((member, index) => ({ ...member, ...apart(index) })) }
}

const giant = (pools: number, members: number, listeners: number) =>
  plane.admission.createLoadBalancer({
    ...{ projectId, name: 'giant', description: '', tags: [], enabled: true, nodeGroupId: null, annotations: {} },
    vips: [{ from: 'pool', poolId: addressPoolId, address: null }],
    pools: Array.from({ length: pools }, (_, index) => poolOf(1 + index, members)),
    listeners: Array.from({ length: listeners }, (_, index) => ({
      ...loadBalancer(1).listeners[0]!,
      id: uuid('listener', 1 + index),
      port: 1 + index,
      defaultPoolId: uuid('pool', 1 + (index % pools)),
    })),
  })

const refused = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error as { readonly code: string; readonly message: string } | null
}

test('40,960 members and 1,000 listeners in one load balancer reach the node, every one of them', async () => {
  const { admission } = plane
  await admission.setQuota(projectId, { members: 100_000, listeners: 1000 })
  const began = performance.now()
  const made = await giant(POOLS, MOST_MEMBERS, 1000)
  await plane.idle()
  const tookMs = performance.now() - began
  const entry = plane.entry(NODE, `lb/${made.id}`) as LoadBalancerEntry
  expect(entry.services).toHaveLength(1000)
  expect(entry.pools).toHaveLength(POOLS)
  for (const [index, { members, slots }] of entry.pools.entries()) {
    expect(members.map((member) => member?.id)).toEqual(made.pools[index]!.members.map(({ id }) => id))
    expect(new Set(decodeSlots(slots!)).size).toBe(MOST_MEMBERS)
  }
  await plane.confirmAll(NODE)
  expect(plane.status.loadBalancer(made.id)).toMatchObject({ provisioning: 'active', confirmedGeneration: 1 })
  const bytes = admission.quotaOf(projectId).used.bytes
  recordFault({
    fault: 'one load balancer with 40,960 members and 1,000 listeners',
    outcome: 'the node gets every one',
    figure: `${(bytes / 1e6).toFixed(1)} MB, ${Math.round(tookMs)} ms to the entry`,
  })
})

test('a document over a limit is refused with that limit, and nothing of it is stored', async () => {
  const { admission } = plane
  expect(await refused(giant(2, 3000, 1))).toMatchObject({
    code: 'OverQuota',
    message: 'Quota for members is 5000, 0 in use, 6000 more wanted',
  })
  await admission.setQuota(projectId, { members: 200_000 })
  expect(await refused(giant(1, MOST_MEMBERS + 1, 1))).toMatchObject({
    code: 'Unsupported',
    message: `Field pools[0].members: a pool balanced per connection has at most ${MOST_MEMBERS} members`,
  })
  expect(await refused(giant(32, MOST_MEMBERS, 1))).toMatchObject({ code: 'ObjectTooLarge' })
  expect(plane.view.list('loadBalancer')).toEqual([])
  const full = await giant(1, MOST_MEMBERS, 1)
  const [more] = poolOf(2, 1).members
  const oneMore = admission.changeMembers(full.id, () => ({ poolId: full.pools[0]!.id, put: [more!], remove: [] }))
  expect(await refused(oneMore)).toMatchObject({ code: 'Unsupported' })
  await plane.idle()
  expect((plane.entry(NODE, `lb/${full.id}`) as LoadBalancerEntry).pools[0]?.members).toHaveLength(MOST_MEMBERS)
})
