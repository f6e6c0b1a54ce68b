import { FakeClock } from '@spout/runtime/fake-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let clock: FakeClock
let projectId: string
let member: { readonly userId: string; readonly token: string }
let other: string

beforeAll(async () => {
  clock = new FakeClock(new Date('2026-01-01T00:00:00.000Z'))
  bed = await openTestBed(clock, undefined, { credentialsPerUser: 3 })
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  member = await bed.login('m', projectId, 'member')
  other = (await bed.login('o', projectId, 'member')).token
})
afterAll(() => bed.close())

const PATH = '/application-credentials'
const make = (body: object, token = member.token) => bed.askNative('POST', PATH, token, body)
const names = async (token: string): Promise<readonly string[]> =>
  (await bed.askNative('GET', PATH, token)).body.items.map(({ name }: { name: string }) => name)

describe('application credentials', () => {
  test('are made with some of the roles, log in, and end their tokens when they are deleted', async () => {
    const made = await make({ name: 'ci', roles: ['balancer'], expiresAt: '2026-02-01T00:00:00.000Z' })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'ci', userId: member.userId, projectId, roles: ['balancer'], secret: expect.any(String) },
    })
    const { secret, ...shown } = made.body
    expect(await bed.askNative('GET', `${PATH}/${shown.id}`, member.token)).toMatchObject({ status: 200, body: shown })
    expect(JSON.stringify(await bed.askNative('GET', PATH, member.token))).not.toContain(secret)
    const login = await bed.askNative('POST', '/tokens', null, { applicationCredentialId: shown.id, secret })
    expect(login).toMatchObject({ status: 201, body: { projectId, roles: ['balancer'] } })
    expect(await bed.askNative('GET', '/tokens/current', login.body.token)).toMatchObject({ status: 200 })
    expect(await bed.askNative('DELETE', `${PATH}/${shown.id}`, member.token)).toMatchObject({ status: 204 })
    expect(await bed.askNative('GET', '/tokens/current', login.body.token)).toMatchObject({ status: 401 })
  })

  test('have all roles and no end unless told', async () => {
    const { body } = await make({ name: 'all' })
    expect(body).toMatchObject({ roles: expect.arrayContaining(['member', 'reader']), expiresAt: null })
    await bed.askNative('DELETE', `${PATH}/${body.id}`, member.token)
  })

  test('are known to their user alone, in their project alone', async () => {
    const { body } = await make({ name: 'mine' })
    const elsewhere = (await bed.admission.createProject({ name: 'two', description: '' })).id
    const user = bed.view.get('user', member.userId)!.value
    await bed.admission.putUser({ ...user, roles: [...user.roles, { projectId: elsewhere, role: 'member' }] })
    const own = await bed.authenticator.loginWithPassword({ id: user.id }, 'pw', { id: elsewhere }, '127.0.0.1')
    expect(await names(member.token)).toEqual(['mine'])
    for (const token of [other, own.secret, await bed.adminLogin()]) {
      expect(await names(token)).toEqual([])
      expect(await bed.askNative('GET', `${PATH}/${body.id}`, token)).toMatchObject({ status: 404 })
      expect(await bed.askNative('DELETE', `${PATH}/${body.id}`, token)).toMatchObject({ status: 404 })
    }
    expect(await names(member.token)).toEqual(['mine'])
    await bed.askNative('DELETE', `${PATH}/${body.id}`, member.token)
  })

  test('are refused with field and reason, and nothing is stored', async () => {
    for (const [body, field, reason] of [
      [{ name: '' }, 'name', 'at least 1'],
      [{ name: 'a', roles: ['reader', 'admin'] }, 'roles[1]', 'no role admin'],
      [{ name: 'a', roles: [] }, 'roles', 'at least 1'],
      [{ name: 'a', expiresAt: '2025-12-31T23:59:59.999Z' }, 'expiresAt', 'in the past'],
      [{ name: 'a', expiresAt: 'tomorrow' }, 'expiresAt', 'is not a time'],
      [{ name: 'a', secret: 'chosen-by-somebody' }, 'secret', 'not known'],
    ] as const)
      expect(await make(body)).toMatchObject({ status: 400, body: { field, detail: expect.stringContaining(reason) } })
    expect(await names(member.token)).toEqual([])
  })

  test('one of them makes and deletes no other', async () => {
    const { body } = await make({ name: 'first' })
    const asked = { applicationCredentialId: body.id, secret: body.secret }
    const { token } = (await bed.askNative('POST', '/tokens', null, asked)).body
    expect(await make({ name: 'second' }, token)).toMatchObject({ status: 403 })
    expect(await bed.askNative('DELETE', `${PATH}/${body.id}`, token)).toMatchObject({ status: 403 })
    expect(await names(member.token)).toEqual(['first'])
    await bed.askNative('DELETE', `${PATH}/${body.id}`, member.token)
  })

  test('a name is free once, and their number is limited, also with those of the Keystone API', async () => {
    await make({ name: 'a' })
    expect(await make({ name: 'a' })).toMatchObject({ status: 409, body: { field: 'name', code: 'NameTaken' } })
    const url = `/identity/v3/users/${member.userId}/application_credentials`
    const theirs = (name: string) => bed.ask('POST', url, member.token, { application_credential: { name } })
    const made = await Promise.all([make({ name: 'b' }), theirs('c'), make({ name: 'd' }), theirs('e')])
    expect(made.filter(({ status }) => status === 201)).toHaveLength(2)
    expect(await names(member.token)).toHaveLength(3)
  })
})
