import { operatorProblem } from '@spout/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
})
afterAll(() => bed.close())

const problems = async () => {
  const { items } = (await bed.askNative('GET', '/problems', admin)).body
  for (const one of items) expect(operatorProblem.parse(one)).toEqual(one)
  return items
}

test('nothing is wrong with nothing', async () => expect(await problems()).toEqual([]))

test('what is wrong with nodes, shards, pools and load balancers, worst first, with the section of the runbook', async () => {
  const group = await bed.admission.createNodeGroup({ name: 'g', description: '', announcer: 'vrrp' })
  const enrol = async (nodeName: string) => {
    const draft = { nodeName, nodeGroupId: group.id, ttlSeconds: 60 }
    const { secret } = await bed.admission.createEnrolmentToken(draft)
    return bed.admission.enrolNode(secret, async () => 'a'.repeat(64))
  }
  const [well, silent, conflicted] = [await enrol('well'), await enrol('silent'), await enrol('conflicted')]
  bed.status.nodes.set(well.id, { connection: 'connected' })
  bed.status.nodes.set(silent.id, { connection: 'disconnected', lastReportAt: '2026-01-01T00:00:00.000Z' })
  const claimed = { code: 'AddressClaimed', message: 'Somebody claims 192.0.2.1.' }
  bed.status.nodes.set(conflicted.id, { connection: 'connected', problems: [claimed] })
  const shard = { nodeGroupId: group.id, ownerNodeId: null, nodes: [] }
  bed.ownership.all.push(
    { ...shard, number: 1, state: 'settled', masterNodeIds: [well.id] },
    { ...shard, number: 2, state: 'two-owners', masterNodeIds: [well.id, conflicted.id] },
  )
  const pool = await bed.admission.createAddressPool({
    ...{ name: 'p', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '198.51.100.1', last: '198.51.100.2' }],
  })
  const { id: projectId } = await bed.admission.createProject({ name: 'one', description: '' })
  const create = (name: string) =>
    bed.admission.createLoadBalancer({
      ...{ projectId, name, description: '', tags: [], enabled: true, listeners: [], pools: [] },
      ...{ vips: [{ from: 'pool', poolId: pool.id, address: null }], nodeGroupId: null, annotations: {} },
    })
  const [partly, failed] = [await create('partly'), await create('failed')]
  const serving = {
    state: 'partly',
    reason: 'MembersDown',
    message: '1 of 2 answers.',
    membersUp: 1,
    members: 2,
  } as const
  bed.status.set(partly.id, { provisioning: 'active', serving })
  bed.status.set(failed.id, { provisioning: 'error', reason: 'NoNodeAvailable', message: 'No node can take it.' })
  const short = (await problems()).map(
    (one: { level: string; code: string; object: { name: string }; runbook: string }) =>
      [one.level, one.code, one.object.name, one.runbook] as const,
  )
  // Of one kind they come in the order of creation, which is not known within a millisecond.
  const [first, ...rest] = short
  expect(first).toEqual(['error', 'TwoOwners', 'g', 'two-nodes-own-a-shard'])
  expect(rest.slice(0, 2).toSorted()).toEqual([
    ['error', 'AddressClaimed', 'conflicted', 'somebody-claims-an-address-of-a-node'],
    ['error', 'NodeDisconnected', 'silent', 'a-node-is-disconnected'],
  ])
  expect(rest.slice(2)).toEqual([
    ['error', 'Exhausted', 'p', 'a-pool-of-addresses-runs-out'],
    ['error', 'NoNodeAvailable', 'failed', 'no-node-can-take-a-load-balancer'],
    ['warning', 'MembersDown', 'partly', 'members-are-down'],
  ])
  const { token } = await bed.login('member', projectId, 'member')
  expect(await bed.askNative('GET', '/problems', token)).toMatchObject({ status: 403 })
})
