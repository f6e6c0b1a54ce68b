import { ROLES } from '@spout/model'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'
import { roleId } from './role-names.ts'

let bed: TestBed
let admin: string
let projectId: string
beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  projectId = (await bed.admission.createProject({ name: 'web', description: '' })).id
})
afterAll(() => bed.close())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD', path: string, body?: object, token = admin) =>
  bed.ask(method, `/identity/v3${path}`, token, body)
const newRole = async (name: string): Promise<string> => (await ask('POST', '/roles', { role: { name } })).body.role.id
const names = (roles: readonly { readonly name: string }[]) => roles.map(({ name }) => name)
const login = (name: string) =>
  ask('POST', '/auth/tokens', {
    auth: {
      identity: { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password: 'pw' } } },
      scope: { project: { id: projectId } },
    },
  })

describe('roles of the system', () => {
  test.each(ROLES)('%s is granted, is in the token, and is taken away', async (role) => {
    const { body } = await ask('POST', '/users', { user: { name: `u-${role}`, password: 'pw' } })
    const path = `/projects/${projectId}/users/${body.user.id}/roles/${roleId(role)}`
    expect((await ask('HEAD', path)).status).toBe(404)
    expect((await login(`u-${role}`)).status).toBe(401)
    expect((await ask('PUT', path)).status).toBe(204)
    expect((await ask('PUT', path)).status).toBe(204)
    expect((await ask('HEAD', path)).status).toBe(204)
    expect(names((await login(`u-${role}`)).body.token.roles)).toContain(role)
    expect((await ask('DELETE', path)).status).toBe(204)
    expect((await login(`u-${role}`)).status).toBe(401)
  })

  test('none implies one of the Octavia API, and none of those implies another', async () => {
    const { userId, token } = await bed.login('quota', projectId, 'load-balancer_quota_admin')
    expect(bed.authenticator.tokens.session(token).principal.roles).toEqual(['load-balancer_quota_admin'])
    expect(bed.view.get('user', userId)?.value.roles).toEqual([{ projectId, role: 'load-balancer_quota_admin' }])
    const member = await bed.login('plain', projectId, 'member')
    expect(bed.authenticator.tokens.session(member.token).principal.roles).toEqual(['member', 'reader'])
  })

  test('cannot be made again or deleted', async () => {
    expect((await ask('POST', '/roles', { role: { name: 'member' } })).status).toBe(409)
    const { status, body } = await ask('DELETE', `/roles/${roleId('member')}`)
    expect([status, body.error.message]).toEqual([
      403,
      expect.stringContaining('the role member belongs to the system'),
    ])
  })
})

describe('roles that clients make', () => {
  test('are listed, found by name, and deleted', async () => {
    const made = await ask('POST', '/roles', { role: { name: 'heat_stack_owner', description: 'for stacks' } })
    expect(made).toMatchObject({ status: 201, body: { role: { name: 'heat_stack_owner', description: 'for stacks' } } })
    const { id } = made.body.role
    expect((await ask('POST', '/roles', { role: { name: 'heat_stack_owner' } })).status).toBe(409)
    expect((await ask('GET', '/roles?name=heat_stack_owner')).body.roles).toEqual([made.body.role])
    expect((await ask('GET', `/roles/${id}`)).body).toEqual(made.body)
    expect((await ask('DELETE', `/roles/${id}`)).status).toBe(204)
    expect((await ask('GET', `/roles/${id}`)).status).toBe(404)
  })

  test('let their holder log in, and do nothing that needs a role', async () => {
    const id = await newRole('watcher')
    const { body } = await ask('POST', '/users', { user: { name: 'w', password: 'pw' } })
    await ask('PUT', `/projects/${projectId}/users/${body.user.id}/roles/${id}`)
    const issued = await bed.authenticator.loginWithPassword({ name: 'w' }, 'pw', { id: projectId }, '192.0.2.1')
    expect((await login('w')).body.token.roles).toEqual([{ id, name: 'watcher' }])
    expect(issued.principal).toMatchObject({ projectId, roles: [] })
    expect((await bed.ask('GET', '/api/v1/load-balancers', issued.secret)).status).toBe(403)
    const credential = { application_credential: { name: 'c' } }
    const refused = await ask('POST', `/users/${body.user.id}/application_credentials`, credential, issued.secret)
    expect(refused.status).toBe(403)
    expect((await ask('GET', `/role_assignments?user.id=${body.user.id}&include_names`)).body.role_assignments).toEqual(
      [expect.objectContaining({ role: { id, name: 'watcher' } })],
    )
    expect((await ask('DELETE', `/roles/${id}`)).status).toBe(204)
    expect(() => bed.authenticator.tokens.session(issued.secret)).toThrow('no longer valid')
    expect((await login('w')).status).toBe(401)
  })

  test('are made and deleted by administrators only', async () => {
    const id = await newRole('guarded')
    for (const role of ['member', 'load-balancer_admin'] as const) {
      const { token } = await bed.login(`no-${role}`, projectId, role)
      expect((await ask('POST', '/roles', { role: { name: 'mine' } }, token)).status).toBe(403)
      expect((await ask('DELETE', `/roles/${id}`, undefined, token)).status).toBe(403)
    }
  })
})

test('grants on the domain are kept and shown, and open no project', async () => {
  const { body } = await ask('POST', '/users', { user: { name: 'd', password: 'pw' } })
  const { id } = body.user
  const path = `/domains/default/users/${id}/roles`
  expect((await ask('PUT', `${path}/${roleId('admin')}`)).status).toBe(204)
  expect((await ask('HEAD', `${path}/${roleId('admin')}`)).status).toBe(204)
  expect(names((await ask('GET', path)).body.roles)).toEqual(['admin'])
  const onDomain = await ask('GET', `/role_assignments?scope.domain.id=default&user.id=${id}`)
  expect(onDomain.body.role_assignments).toMatchObject([{ scope: { domain: { id: 'default' } }, user: { id } }])
  expect((await ask('GET', `/role_assignments?scope.project.id=${projectId}&user.id=${id}`)).body).toMatchObject({
    role_assignments: [],
  })
  expect((await login('d')).status).toBe(401)
  expect((await ask('PUT', `/domains/other/users/${id}/roles/${roleId('admin')}`)).status).toBe(404)
  expect((await ask('DELETE', `${path}/${roleId('admin')}`)).status).toBe(204)
  expect((await ask('GET', path)).body.roles).toEqual([])
})
