import { drainPreview } from '@spout/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string
let member: string
let first: string
let second: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  const { id: projectId } = await bed.admission.createProject({ name: 'one', description: '' })
  member = (await bed.login('m', projectId, 'member')).token
  const group = await bed.admission.createNodeGroup({
    ...{ name: 'g', description: '', announcer: 'vrrp', vrrp: { shards: 2 } },
  })
  const enrol = async (nodeName: string, fabricAddress: string): Promise<string> => {
    const { secret } = await bed.admission.createEnrolmentToken({ nodeName, nodeGroupId: group.id, ttlSeconds: 60 })
    const { id } = await bed.admission.enrolNode(secret, async () => 'a'.repeat(64))
    await bed.admission.changeNode(id, { fabricAddress })
    return id
  }
  first = await enrol('n1', '192.0.2.1')
  second = await enrol('n2', '192.0.2.2')
  const settled = (number: number, ownerNodeId: string) => ({
    ...{ nodeGroupId: group.id, number, ownerNodeId, state: 'settled' as const },
    ...{ masterNodeIds: [ownerNodeId], nodes: [] },
  })
  bed.ownership.all.push(settled(1, first), settled(2, second))
})
afterAll(() => bed.close())

const asked = (id: string, scheduling: string, token = admin) =>
  bed.askNative('PUT', `/nodes/${id}/scheduling?dryRun=true`, token, { scheduling })

test('says which shards leave the node and who takes them, stores nothing, and is not in the audit log', async () => {
  const before = await bed.store.revision()
  const { status, body } = await asked(first, 'draining')
  expect(status).toBe(200)
  expect(drainPreview.parse(body)).toEqual(body)
  expect(body).toMatchObject({
    node: { id: first, name: 'n1' },
    group: { name: 'g' },
    hasSuccessor: true,
    moves: [{ how: 'shard', shard: 1, to: { id: second, name: 'n2' }, loadBalancers: 0, addressCount: 0 }],
    connections: [],
  })
  expect(await bed.store.revision()).toBe(before)
  expect(bed.view.get('node', first)?.value.scheduling).toBe('enabled')
  const { items } = await bed.audit.read({ show: (each) => each, since: null, limit: 100, before: null })
  expect(items.map(({ operation }) => operation)).not.toContain('PUT /api/v1/nodes/:id/scheduling')
})

test('a change that moves nothing has no dry run, and is not made instead', async () => {
  for (const scheduling of ['cordoned', 'enabled'])
    expect(await asked(first, scheduling)).toMatchObject({ status: 400, body: { field: 'dryRun' } })
  expect(await asked(first, 'asleep')).toMatchObject({ status: 400, body: { field: 'scheduling' } })
  expect(bed.view.get('node', first)?.value.scheduling).toBe('enabled')
})

test('only an operator may ask, of a node that exists', async () => {
  expect((await asked(first, 'draining', member)).status).toBe(403)
  expect((await asked('6f1c3b1e-6a4e-4c56-9f0b-000000000009', 'draining')).status).toBe(404)
})
