import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'
import { roleId } from './role-names.ts'

let bed: TestBed
let admin: string
beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
})
afterAll(() => bed.close())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object, token = admin) =>
  bed.ask(method, `/identity/v3${path}`, token, body)
const newProject = async (name: string): Promise<string> =>
  (await ask('POST', '/projects', { project: { name } })).body.project.id
const newUser = async (name: string, projectId: string): Promise<string> => {
  const { id } = (await ask('POST', '/users', { user: { name, password: 'pw' } })).body.user
  await ask('PUT', `/projects/${projectId}/users/${id}/roles/${roleId('member')}`)
  return id
}
const login = (user: object, project: object) =>
  bed.ask('POST', '/identity/v3/auth/tokens', null, {
    auth: {
      identity: { methods: ['password'], password: { user: { ...user, password: 'pw' } } },
      scope: { project },
    },
  })
const DOMAIN = { domain: { id: 'default' } }
const tokenOf = (answer: { readonly headers: object }) =>
  String((answer.headers as Record<string, unknown>)['x-subject-token'])

describe('a project', () => {
  test('that is renamed keeps its id, its tokens and its load balancers; its old name is free', async () => {
    const id = await newProject('before')
    await newUser('ann', id)
    const token = tokenOf(await login({ name: 'ann', ...DOMAIN }, { name: 'before', ...DOMAIN }))
    const renamed = await ask('PATCH', `/projects/${id}`, { project: { name: 'after', description: 'new' } })
    expect(renamed).toMatchObject({ status: 200, body: { project: { id, name: 'after', description: 'new' } } })
    expect((await ask('GET', `/projects/${id}`)).body).toEqual(renamed.body)
    expect((await ask('GET', '/projects?name=before')).body.projects).toEqual([])
    expect((await ask('GET', '/projects?name=after&domain_id=default')).body.projects).toHaveLength(1)
    expect((await bed.ask('GET', '/api/v1/load-balancers', token)).status).toBe(200)
    const shown = await bed.ask('GET', '/identity/v3/auth/tokens', token, undefined, { 'x-subject-token': token })
    expect(shown.body.token.project).toMatchObject({ id, name: 'after' })
    expect((await login({ name: 'ann', ...DOMAIN }, { name: 'before', ...DOMAIN })).status).toBe(401)
    expect((await login({ name: 'ann', ...DOMAIN }, { name: 'after', ...DOMAIN })).status).toBe(201)
    expect((await ask('POST', '/projects', { project: { name: 'before' } })).status).toBe(201)
  })

  test('takes no name of another one, and no other domain', async () => {
    const id = await newProject('mine')
    await newProject('theirs')
    const patch = (project: object) => ask('PATCH', `/projects/${id}`, { project })
    expect((await patch({ name: 'theirs' })).status).toBe(409)
    expect((await patch({ name: 'mine' })).status).toBe(200)
    for (const wrong of [{ domain_id: 'other' }, { name: '' }, { name: 'x'.repeat(65) }, { is_domain: true }, { a: 1 }])
      expect((await patch(wrong)).status).toBe(400)
    expect((await ask('GET', `/projects/${id}`)).body.project.name).toBe('mine')
    expect((await ask('PATCH', '/projects/none', { project: { name: 'x' } })).status).toBe(404)
    const { token } = await bed.login('eve', id, 'member')
    expect((await ask('PATCH', `/projects/${id}`, { project: { name: 'eve' } }, token)).status).toBe(403)
  })

  test('of two that want one name at once one gets it', async () => {
    const [one, two] = [await newProject('one'), await newProject('two')]
    const answers = await Promise.all(
      [one, two].map((id) => ask('PATCH', `/projects/${id}`, { project: { name: 'x' } })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })

  test('that is disabled lets nobody in until it is enabled', async () => {
    const id = await newProject('sleepy')
    await newUser('tom', id)
    const answer = await login({ name: 'tom', ...DOMAIN }, { id })
    const patch = (enabled: boolean) => ask('PATCH', `/projects/${id}`, { project: { enabled } })
    expect((await patch(false)).body.project.enabled).toBe(false)
    expect((await bed.ask('GET', '/api/v1/load-balancers', tokenOf(answer))).status).toBe(401)
    expect((await login({ name: 'tom', ...DOMAIN }, { id })).status).toBe(401)
    expect((await patch(true)).status).toBe(200)
    expect((await login({ name: 'tom', ...DOMAIN }, { id })).status).toBe(201)
    const own = await ask('PATCH', `/projects/${bed.admin.projectId}`, { project: { enabled: false } })
    expect(own.status).toBe(403)
  })
})

describe('a user', () => {
  test('who is renamed keeps tokens and roles, and logs in by the new name alone', async () => {
    const project = await newProject('of-users')
    const id = await newUser('old', project)
    await newUser('taken', project)
    const token = tokenOf(await login({ name: 'old', ...DOMAIN }, { id: project }))
    const patch = (user: object) => ask('PATCH', `/users/${id}`, { user })
    expect((await patch({ name: 'taken' })).status).toBe(409)
    expect((await patch({ name: 'new', domain_id: 'other' })).status).toBe(400)
    expect((await patch({ name: 'new' })).body.user).toMatchObject({ id, name: 'new', domain_id: 'default' })
    const shown = await bed.ask('GET', '/identity/v3/auth/tokens', token, undefined, { 'x-subject-token': token })
    expect(shown.body.token.user).toMatchObject({ id, name: 'new' })
    expect((await login({ name: 'old', ...DOMAIN }, { id: project })).status).toBe(401)
    expect((await login({ name: 'new', ...DOMAIN }, { id: project })).status).toBe(201)
    // Names are unique within a domain. There is only one domain.
    expect((await login({ name: 'new', domain: { name: 'elsewhere' } }, { id: project })).status).toBe(401)
    expect((await login({ id }, { name: 'of-users', domain: { name: 'elsewhere' } })).status).toBe(401)
  })
})

describe('a role', () => {
  test('that is renamed stays with its holders, whose tokens have the new name', async () => {
    const project = await newProject('of-roles')
    const user = await newUser('zoe', project)
    const { id } = (await ask('POST', '/roles', { role: { name: 'watcher' } })).body.role
    await ask('PUT', `/projects/${project}/users/${user}/roles/${id}`)
    const token = tokenOf(await login({ name: 'zoe', ...DOMAIN }, { id: project }))
    const patch = (role: object) => ask('PATCH', `/roles/${id}`, { role })
    expect((await patch({ name: 'member' })).status).toBe(409)
    expect((await patch({ name: 'viewer', description: 'sees' })).body.role).toMatchObject({
      ...{ id, name: 'viewer', description: 'sees' },
    })
    const shown = await bed.ask('GET', '/identity/v3/auth/tokens', token, undefined, { 'x-subject-token': token })
    expect(shown.body.token.roles).toContainEqual({ id, name: 'viewer' })
    expect((await ask('GET', '/roles?name=watcher')).body.roles).toEqual([])
    expect((await ask('PATCH', `/roles/${id}`, { role: { name: 'mine' } }, token)).status).toBe(403)
  })

  test('of the system keeps its name', async () => {
    expect((await ask('PATCH', `/roles/${roleId('member')}`, { role: { name: 'other' } })).status).toBe(403)
    expect((await ask('PATCH', '/roles/none', { role: { name: 'other' } })).status).toBe(404)
  })
})
