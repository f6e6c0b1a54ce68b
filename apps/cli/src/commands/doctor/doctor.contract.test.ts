import { callApi, createTenant, Lab, type SystemAccess, startControlPlane } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spoutAs } from '../../testing/installed-spout.ts'

let lab: Lab
let access: SystemAccess
beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
}, 120_000)
afterAll(() => lab?.destroy())

const doctor = (token: string, ...words: readonly string[]) => spoutAs(access, token, ['doctor', ...words])

test('an installation without nodes needs one; a pool that is full is found', async () => {
  const pool = { name: 'public', cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.16', last: '198.51.100.16' }] }
  const { id } = await callApi<{ id: string }>(access.endpoint, access.admin.token, 'POST', '/address-pools', pool)
  const before = await doctor(access.admin.token)
  expect(before.code).toBe(1)
  expect(before.stderr).toBe('spout: 1 finding needs you\n')
  expect(before.stdout).toBe(
    'error    nodes: No node is enrolled: nothing carries traffic.\n         docs/operations.md, "A new node"\n',
  )
  await callApi(access.endpoint, access.admin.token, 'POST', '/addresses', { use: 'floating', poolId: id })
  const findings: readonly object[] = JSON.parse((await doctor(access.admin.token, '-o', 'json', '--all')).stdout)
  expect(findings).toContainEqual({
    ...{ level: 'error', check: 'address pools', subject: 'public', message: '1 of 1 addresses are used.' },
    fix: 'make another pool: spout address-pool create NAME --ranges FIRST-LAST --cidr SUBNET',
  })
  expect(findings).toContainEqual(expect.objectContaining({ level: 'ok', check: 'routers' }))
})

test('a tenant is refused', async () => {
  const tenant = { project: 'a', user: 'a', password: 'a-in-the-lab', segment: 'a', returnPath: 'snat' } as const
  const { token } = await createTenant(access, tenant)
  const { code, stdout, stderr } = await doctor(token)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('the role admin is needed')
})
