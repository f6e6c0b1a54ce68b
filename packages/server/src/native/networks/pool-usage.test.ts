import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  const pool = { name: 'public', cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.16', last: '198.51.100.19' }] }
  poolId = (await bed.ask('POST', '/api/v1/address-pools', admin, pool)).body.id
})
afterAll(() => bed.close())

it('shows an address that nodes carry by their own settings as taken, since the pool passes it over', async () => {
  const { id: nodeGroupId } = await bed.admission.createNodeGroup({ name: 'masters' })
  const { id: projectId } = await bed.admission.createProject({ name: 'operators', description: '' })
  const token = { nodeName: 'master1', nodeGroupId, ttlSeconds: 600 }
  const { secret } = await bed.admission.createEnrolmentToken(token)
  const { id } = await bed.admission.enrolNode(secret, async () => 'a'.repeat(64))
  await bed.admission.seeFabricAddress(id, '198.51.100.4')
  const check = { type: 'tcp', path: null, intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 } as const
  const members = [{ address: '198.51.100.4', port: 6443 }]
  const loadBalancer = { name: 'api-server', address: '198.51.100.17', port: 6443, members, check }
  await bed.admission.adoptLoadBalancer({ projectId, nodeGroupId, loadBalancer })
  const usage = (await bed.ask('GET', `/api/v1/address-pools/${poolId}/usage`, admin)).body
  expect(usage).toMatchObject({ total: 4, free: 3, taken: 1 })
  expect(usage.parts).toMatchObject([
    { first: '198.51.100.16', last: '198.51.100.16', state: 'free' },
    { first: '198.51.100.17', state: 'taken', by: { use: 'vip', loadBalancerName: 'api-server' } },
    { first: '198.51.100.18', last: '198.51.100.19', state: 'free' },
  ])
})
