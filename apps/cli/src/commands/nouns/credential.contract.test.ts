import { type Account, createTenant, Lab, type SystemAccess, startControlPlane, type Tenant } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spoutAs } from '../../testing/installed-spout.ts'

// A real control plane, and the command as people run it.
let lab: Lab
let access: SystemAccess
let acme: Tenant

beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
  const spec = { password: 'in-the-lab-of-tests', returnPath: 'snat', segment: 'tenant-a' } as const
  acme = await createTenant(access, { ...spec, project: 'acme', user: 'alice' })
})
afterAll(() => lab?.destroy())

const spout = (who: Pick<Account, 'token'>, words: string) => spoutAs(access, who.token, words.split(' '))

test('a credential is made with its secret, listed without, and deleted by its user alone', async () => {
  const made = await spout(acme, 'credential create ci --roles balancer --expires 2099-01-01T00:00:00Z -o json')
  expect(made).toMatchObject({ code: 0 })
  const { id, secret, roles, expiresAt } = JSON.parse(made.stdout)
  expect([roles, expiresAt]).toEqual([['balancer'], '2099-01-01T00:00:00.000Z'])
  expect(secret).toMatch(/^\S{40,}$/)
  const { stdout } = await spout(acme, 'credential list')
  expect(stdout).toMatch(new RegExp(`^ci +balancer .*${id}`, 'm'))
  expect(stdout).not.toContain(secret)
  expect(await spout(access.admin, 'credential delete ci')).toMatchObject({ code: 1 })
  expect(await spout(acme, 'credential create ci2 --expires yesterday')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('expiresAt'),
  })
  expect(await spout(acme, 'credential delete ci')).toMatchObject({ code: 0 })
  expect((await spout(acme, 'credential list')).stdout).not.toContain(id)
})
