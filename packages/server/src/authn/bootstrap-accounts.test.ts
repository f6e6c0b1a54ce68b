import { systemClock } from '@spout/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'
import { bootstrapAccounts } from './bootstrap-accounts.ts'
import type { KnownAccount } from './service-accounts.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await openTestBed()
})
afterAll(() => bed.close())

const connector: KnownAccount = { account: 'spout/connector', role: 'balancer', projectName: 'cluster' }
const bring = (...accounts: readonly KnownAccount[]) => bootstrapAccounts({ ...bed, clock: systemClock }, accounts)
const rolesOf = (name: string) => {
  const { view } = bed
  const user = view.list('user').find((known) => known.name === name)
  return user?.roles.map(({ projectId, role }) => `${role} ${view.get('project', projectId)?.value.name}`)
}

test('an account becomes a user without a password, with one role in a created project', async () => {
  await bring(connector)
  expect(rolesOf('kubernetes:spout/connector')).toEqual(['balancer cluster'])
  expect(bed.view.list('user').find(({ name }) => name === 'kubernetes:spout/connector')?.passwordHash).toBeNull()
  const revision = await bed.store.revision()
  await bring(connector)
  expect(await bed.store.revision()).toBe(revision)
})

test('the settings win: a role added since is removed, and another role is changed', async () => {
  await bring({ ...connector, role: 'reader' })
  expect(rolesOf('kubernetes:spout/connector')).toEqual(['reader cluster'])
})

test('a removed account has no roles; other users stay', async () => {
  const { id } = await bed.admission.createProject({ name: 'mine', description: '' })
  await bed.login('kubernetes:by-hand', id, 'member')
  await bring()
  expect(rolesOf('kubernetes:spout/connector')).toEqual([])
  expect(rolesOf('kubernetes:by-hand')).toEqual(['member mine'])
})
