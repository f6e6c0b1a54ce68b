import { DEFAULT_QUOTA, type LoadBalancer, limitsOf, MOST_LOAD_BALANCER_BYTES, roomFor } from '@spout/model'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, listenerOf, memberOf, type Office, openOffice, poolOf, refusal } from '../testing/office.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const WIDE = '\u{1f9a6}'.repeat(127)

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

/** Members with as much text as a client may give. */
const wordy = (first: number, count: number, tags = 100) =>
  Array.from({ length: count }, (_, index) =>
    memberOf(id(first + index), `10.0.0.${20 + (index % 200)}`, 1000 + Math.floor(index / 200), {
      name: WIDE,
      description: WIDE,
      tags: Array.from({ length: tags }, (_, tag) => `${tag} ${WIDE.slice(0, 240)}`),
    }),
  )

const vips = () =>
  [{ from: 'subnet', networkId: office.network.id, subnetId: office.subnet.id, address: null }] as const
/** The bytes that the load balancers alone use. */
const bytesUsed = () => office.admission.quotaOf(office.project.id).used.bytes - networkBytes()
const networkBytes = () =>
  office.view
    .list('network', { projectId: office.project.id })
    .reduce((sum, network) => sum + Buffer.byteLength(JSON.stringify(network)), 0)
/** The size of a load balancer's JSON, part by part. */
const measured = ({ listeners, pools, ...head }: LoadBalancer): number =>
  [
    { ...head, listeners: [], pools: [] },
    ...listeners,
    ...pools.flatMap((pool) => [{ ...pool, members: [] }, ...pool.members]),
  ].reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0)
const allMeasured = () => office.view.list('loadBalancer').reduce((sum, one) => sum + measured(one), 0)

test('a project over its quota of bytes is refused, even with few objects', async () => {
  const { admission, project } = office
  const pools = [poolOf(id(1), wordy(100, 600))]
  const error = await refusal(admission.createLoadBalancer(draftOf(project.id, vips(), { pools })))
  expect(error).toMatchObject({
    code: 'OverQuota',
    params: { resource: 'bytes', limit: DEFAULT_QUOTA.bytes, used: networkBytes() },
  })
  expect(office.view.list('loadBalancer')).toEqual([])
  expect(bytesUsed()).toBe(0)
})

test('bytes are counted as documents grow, shrink and are deleted, by any change', async () => {
  const { admission, project } = office
  const small = await admission.createLoadBalancer(
    draftOf(project.id, vips(), { pools: [poolOf(id(1), wordy(100, 3, 2))], listeners: [listenerOf(id(2), 80)] }),
  )
  const check = () => expect(bytesUsed()).toBe(allMeasured())
  check()
  await admission.changeMembers(small.id, () => ({ poolId: id(1), put: wordy(200, 40, 2).slice(3), remove: [] }))
  check()
  await admission.changeMembers(small.id, () => ({
    poolId: id(1),
    put: [],
    remove: [{ address: '10.0.0.21', port: 1000 }],
  }))
  check()
  await admission.changeLoadBalancer(small.id, ({ pools: [first] }) => ({
    name: WIDE,
    listeners: [listenerOf(id(3), 81), listenerOf(id(2), 80, { description: 'é' })],
    pools: [{ ...first!, name: 'ü', members: first!.members.toReversed().slice(1) }, poolOf(id(9), [])],
  }))
  check()
  await Promise.all(
    [1, 2, 3].map((turn) =>
      admission.changeLoadBalancer(small.id, ({ tags }) => ({ tags: [...tags, `turn ${turn}`] })),
    ),
  )
  check()
  await admission.deleteLoadBalancer(small.id, { cascade: true })
  expect(bytesUsed()).toBe(0)
})

test('a change is refused for the bytes that it adds, and a project over its limit may shrink', async () => {
  const { admission, project } = office
  const one = await admission.createLoadBalancer(
    draftOf(project.id, vips(), { pools: [poolOf(id(1), wordy(100, 20))] }),
  )
  await admission.setQuota(project.id, { bytes: 100_000 })
  expect(admission.quotaOf(project.id).limits.bytes).toBe(100_000)
  const more = await refusal(admission.changeLoadBalancer(one.id, () => ({ description: WIDE })))
  expect(more).toMatchObject({ code: 'OverQuota', params: { resource: 'bytes', limit: 100_000 } })
  const member = await refusal(
    admission.changeMembers(one.id, () => ({ poolId: id(1), put: wordy(500, 30).slice(29), remove: [] })),
  )
  expect(member.params.resource).toBe('bytes')
  await admission.changeLoadBalancer(one.id, ({ pools: [pool] }) => ({
    pools: [{ ...pool!, members: pool!.members.slice(0, 5) }],
  }))
  expect(bytesUsed()).toBe(allMeasured())
})

test('subnets and routes count, and a refusal for bytes changes nothing', async () => {
  const { admission, project, network, view } = office
  const shown = () => view.get('network', network.id)?.value
  const via = network.subnets[0]?.nodeRange?.first ?? '10.0.0.2'
  const routes = (count: number) => Array.from({ length: count }, (_, at) => ({ to: `10.9.${at}.0/24`, via }))
  await admission.setQuota(project.id, { bytes: networkBytes() + 4000 })
  await admission.setNetworkRoutes(network.id, routes(20))
  expect(admission.quotaOf(project.id).used.bytes).toBe(networkBytes())
  const more = await refusal(admission.setNetworkRoutes(network.id, routes(200)))
  expect(more).toMatchObject({ code: 'OverQuota', params: { resource: 'bytes' } })
  expect(shown()?.routes).toHaveLength(20)
  const draft = { name: WIDE, description: WIDE, cidr: 'fd00:7::/64', gatewayIp: 'fd00:7::1', nodeRange: null }
  await admission.setQuota(project.id, { bytes: networkBytes() + 100 })
  expect(await refusal(admission.addSubnet(network.id, draft))).toMatchObject({ code: 'OverQuota' })
  // A load balancer over the limit may still shrink.
  await admission.setNetworkRoutes(network.id, [])
  expect(admission.quotaOf(project.id).used.bytes).toBe(networkBytes())
})

test('the limit of bytes follows that of members until it is set', async () => {
  const { admission, project } = office
  const bytes = () => admission.quotaOf(project.id).limits.bytes
  expect(bytes()).toBe(DEFAULT_QUOTA.bytes)
  await admission.setQuota(project.id, { members: 100_000 })
  expect(bytes()).toBe(roomFor({ ...DEFAULT_QUOTA, members: 100_000 }))
  await admission.setQuota(project.id, { members: 10 })
  expect(bytes()).toBe(DEFAULT_QUOTA.bytes)
  await admission.setQuota(project.id, { bytes: 5 })
  await admission.setQuota(project.id, { members: 200_000 })
  expect(bytes()).toBe(5)
})

test('everything that the default limits allow fits, with short names', () => {
  const member = memberOf(id(1), '2001:db8:1234:5678:9abc:def0:1234:5678', 65_535, {
    name: 'web-5bdf9b85ff-b5fxq.default.svc.cluster.local',
    subnetId: id(2),
    monitorAddress: '2001:db8:1234:5678:9abc:def0:1234:5678',
    monitorPort: 65_535,
  })
  const listener = listenerOf(id(3), 65_535, { name: 'web', allowedCidrs: Array(20).fill('203.0.113.255/32') })
  const sizes = [
    [DEFAULT_QUOTA.members, member],
    [DEFAULT_QUOTA.listeners, listener],
    [DEFAULT_QUOTA.pools, poolOf(id(4), [])],
  ] as const
  const total = sizes.reduce((sum, [count, part]) => sum + count * Buffer.byteLength(JSON.stringify(part)), 0)
  expect(total).toBeLessThan(DEFAULT_QUOTA.bytes / 3)
  expect(limitsOf({}).bytes).toBe(DEFAULT_QUOTA.bytes)
})

test('one load balancer has a maximum size, whatever the quota', async () => {
  const { admission, project } = office
  await admission.setQuota(project.id, { bytes: 2 ** 40, members: 1_000_000 })
  const pools = [poolOf(id(1), wordy(100, 350)), poolOf(id(2), wordy(1000, 350))]
  const error = await refusal(admission.createLoadBalancer(draftOf(project.id, vips(), { pools })))
  expect(error).toMatchObject({ code: 'ObjectTooLarge', kind: 'tooLarge' })
  expect(error.params.limitBytes).toBe(MOST_LOAD_BALANCER_BYTES)
  expect(error.message).toContain(`at most ${MOST_LOAD_BALANCER_BYTES} are stored`)
})

test('annotations are limited in number and in total size', async () => {
  const { admission, project } = office
  const create = (annotations: Record<string, string>) =>
    refusal(admission.createLoadBalancer(draftOf(project.id, vips(), { annotations })))
  const many = Object.fromEntries(Array.from({ length: 8193 }, (_, index) => [`key-${index}`, '']))
  expect(await create(many)).toMatchObject({ code: 'InvalidField', field: 'annotations' })
  const large = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key-${index}`, 'x'.repeat(4000)]))
  expect(await create(large)).toMatchObject({ code: 'InvalidField', field: 'annotations' })
})
