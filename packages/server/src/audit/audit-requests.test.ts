import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { AuditRecord } from '@spout/model'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, type Method, openTestBed, type TestBed } from '../testing/test-bed.ts'

const CANARY = 'canary-secret-that-must-not-be-written'
let bed: TestBed
let projectId: string
let otherId: string
let member: { readonly userId: string; readonly token: string }
let stranger: { readonly userId: string; readonly token: string }
let admin: string

beforeAll(async () => {
  bed = await openTestBed()
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  otherId = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = await bed.login('m', projectId, 'member')
  stranger = await bed.login('s', otherId, 'member')
  admin = await bed.adminLogin()
})
afterAll(() => bed.close())

const audit = async (token: string, query = ''): Promise<readonly AuditRecord[]> => {
  const { status, body } = await bed.askNative('GET', `/audit${query}`, token)
  expect(status).toBe(200)
  return body.items
}
const newest = async (): Promise<AuditRecord> => (await audit(admin, '?limit=1'))[0]!
const written = async (): Promise<string> => {
  await bed.audit.flush()
  return readdirSync(bed.auditDirectory)
    .map((file) => readFileSync(path.join(bed.auditDirectory, file), 'utf8'))
    .join('')
}

describe('what is audited', () => {
  const ABSENT = '00000000-0000-4000-8000-000000000000'
  // Method, path, whose token, the body; the fields of the record that do not vary.
  test.each<[string, Method, string, 'member' | 'admin' | 'nobody', unknown, Partial<AuditRecord>]>([
    ['a write', 'POST', '/api/v1/networks', 'member', { name: 'n' }, { surface: 'native', status: 201, code: null }],
    [
      'a refused write, with the error of the table',
      ...(['POST', '/api/v1/networks', 'member', { nonsense: 1 }] as const),
      { operation: 'POST /api/v1/networks', status: 400, code: 'UnknownField', object: 'networks' },
    ],
    [
      'a try on what is not there',
      ...(['DELETE', `/api/v1/load-balancers/${ABSENT}`, 'member', undefined] as const),
      { operation: 'DELETE /api/v1/load-balancers/:id', status: 404, object: `load-balancers/${ABSENT}` },
    ],
    [
      'what is forbidden',
      ...(['POST', '/api/v1/projects', 'member', { name: 'mine' }] as const),
      { status: 403, code: 'Forbidden', objectProjectId: null },
    ],
    [
      'a write of nobody',
      ...(['POST', '/api/v1/networks', 'nobody', { name: 'n' }] as const),
      { status: 401, code: 'Unauthenticated', userId: null, projectId: null, method: null, token: null },
    ],
    [
      'a write in Keystone',
      ...(['POST', '/identity/v3/projects', 'admin', { project: { name: 'made' } }] as const),
      { surface: 'identity', status: 201, operation: 'POST /identity/v3/projects', userName: 'admin' },
    ],
    [
      'a write in Neutron',
      ...(['POST', '/network/v2.0/networks', 'member', { network: { name: 'n' } }] as const),
      { surface: 'network', status: 201 },
    ],
    [
      'a login, and not as an object',
      ...(['POST', '/api/v1/tokens', 'nobody', { userName: 'm', password: 'pw', projectName: 'one' }] as const),
      { status: 201, userName: 'm', method: 'password', object: 'tokens', code: null },
    ],
    [
      'a refused login of somebody who exists',
      ...(['POST', '/api/v1/tokens', 'nobody', { userName: 'm', password: CANARY }] as const),
      { status: 401, userName: 'm', projectId: null, method: 'password', token: null, code: 'Unauthenticated' },
    ],
    [
      'a refused login of nobody, without what was typed',
      ...(['POST', '/api/v1/tokens', 'nobody', { userName: CANARY, password: CANARY }] as const),
      { status: 401, userId: null, userName: null, method: 'password' },
    ],
    [
      'a refused login in Keystone',
      'POST',
      '/identity/v3/auth/tokens',
      'nobody',
      { auth: { identity: { methods: ['password'], password: { user: { id: ABSENT, password: CANARY } } } } },
      { surface: 'identity', status: 401, userId: null, method: 'password' },
    ],
    [
      'a refused application credential',
      ...(['POST', '/api/v1/tokens', 'nobody', { applicationCredentialId: ABSENT, secret: CANARY }] as const),
      { status: 401, method: 'application_credential', credentialId: null },
    ],
    [
      'a body that nobody can read',
      ...(['POST', '/api/v1/tokens', 'nobody', { userName: CANARY, [CANARY]: CANARY }] as const),
      { status: 400, userName: null },
    ],
  ])('%s', async (_what, method, url, who, payload, expected) => {
    const token = { member: member.token, admin, nobody: null }[who]
    const { headers } = await bed.ask(method, url, token, payload)
    const found = await newest()
    expect(found).toMatchObject({ from: '127.0.0.1', ...expected, requestId: headers['x-openstack-request-id'] })
    if (who === 'member') expect(found).toMatchObject({ userId: member.userId, userName: 'm', projectId })
  })

  test('a created object and its changes, by id', async () => {
    const made = await bed.ask('POST', '/api/v1/networks', member.token, { name: 'n' })
    const { id } = made.body
    await bed.ask('POST', `/api/v1/networks/${id}/subnets`, member.token, { cidr: '10.1.0.0/24' })
    await bed.ask('DELETE', `/api/v1/networks/${id}`, admin)
    const found = await audit(member.token, `?object=${id}`)
    expect(found.map(({ operation, objectProjectId }) => [operation, objectProjectId])).toEqual([
      ['DELETE /api/v1/networks/:id', projectId],
      ['POST /api/v1/networks/:id/subnets', projectId],
      ['POST /api/v1/networks', projectId],
    ])
    expect(found[2]?.object).toBe(`networks/${id}`)
  })

  test('each of many at once', async () => {
    const pool = await bed.ask('POST', '/api/v1/address-pools', admin, {
      ...{ name: 'public', cidr: '198.51.100.0/24' },
      ranges: [{ first: '198.51.100.1', last: '198.51.100.250' }],
    })
    const one = { vips: [{ from: 'pool', poolId: pool.body.id }] }
    const { body } = await bed.ask('POST', '/api/v1/load-balancers/batch', member.token, { loadBalancers: [one, one] })
    const ids: string[] = body.results.map((each: { loadBalancer: { id: string } }) => each.loadBalancer.id)
    for (const id of ids) expect(await audit(member.token, `?object=${id}`)).toHaveLength(1)
  })

  test("no reads, except of another user's token", async () => {
    const before = (await newest()).requestId
    await bed.ask('GET', '/api/v1/networks', member.token)
    await bed.ask('GET', '/identity/v3/auth/tokens', member.token, undefined, { 'x-subject-token': member.token })
    expect((await newest()).requestId).toBe(before)
    await bed.ask('GET', '/identity/v3/auth/tokens', admin, undefined, { 'x-subject-token': member.token })
    expect(await newest()).toMatchObject({ operation: 'GET /identity/v3/auth/tokens', userName: 'admin', status: 200 })
  })

  test('a credential that was used', async () => {
    const users = `/identity/v3/users/${member.userId}/application_credentials`
    const made = await bed.ask('POST', users, member.token, { application_credential: { name: 'c', secret: CANARY } })
    const { id } = made.body.application_credential
    expect(await newest()).toMatchObject({ object: `users/${member.userId}/application_credentials/${id}` })
    const login = await bed.askNative('POST', '/tokens', null, { applicationCredentialId: id, secret: CANARY })
    await bed.ask('POST', '/api/v1/networks', login.body.token, { name: 'by credential' })
    expect(await newest()).toMatchObject({ method: 'application_credential', credentialId: id, userName: 'm' })
  })
})

test('no password, token or secret is written', async () => {
  await bed.ask('POST', '/api/v1/users', admin, { name: 'new', password: CANARY })
  await bed.ask('GET', `/api/v1/networks?token=${CANARY}`, member.token)
  await bed.ask('DELETE', `/api/v1/networks/${CANARY.slice(0, 5)}?secret=${CANARY}`, member.token)
  const text = await written()
  expect(text.split('\n').length).toBeGreaterThan(15)
  for (const secret of [CANARY, ADMIN_PASSWORD, admin, member.token, stranger.token]) expect(text).not.toContain(secret)
  // The whole hash would find a token in the store. The record has only enough of it to tell two tokens apart.
  for (const token of bed.view.list('token')) expect(text).not.toContain(token.id.slice(0, 13))
})

describe('who may read the audit log', () => {
  test("a project sees its own actions, and an administrator's on its objects, without the address", async () => {
    const segment = { physicalNetwork: 'physnet1', vlan: 9 }
    const made = await bed.ask('POST', '/api/v1/networks', admin, { name: 'theirs', projectId: otherId, segment })
    await bed.ask('POST', `/api/v1/networks/${made.body.id}/subnets`, stranger.token, { cidr: '10.1.0.0/24' })
    await bed.ask('DELETE', `/api/v1/networks/${made.body.id}`, admin)
    const theirs = await audit(stranger.token)
    const byAdmin = { userName: 'admin', from: null, token: null, projectId: null, objectProjectId: otherId }
    expect(theirs.slice(0, 3)).toMatchObject([
      { ...byAdmin, operation: 'DELETE /api/v1/networks/:id' },
      { userName: 's', from: '127.0.0.1', projectId: otherId, status: 201 },
      { ...byAdmin, operation: 'POST /api/v1/networks' },
    ])
    for (const { projectId: of, objectProjectId } of theirs) expect([of, objectProjectId]).toContain(otherId)
  })

  test("another project's records are invisible, whatever the query", async () => {
    const made = await bed.ask('POST', '/api/v1/networks', member.token, { name: 'mine' })
    // Only the project that tried sees an attempt on another project's object.
    expect((await bed.ask('DELETE', `/api/v1/networks/${made.body.id}`, stranger.token)).status).toBe(404)
    for (const query of ['', `?project=${projectId}`, `?user=${member.userId}`, '?user=m', '?user=admin'])
      for (const each of await audit(stranger.token, query)) expect(each.userName).not.toBe('m')
    const tried = await audit(stranger.token, `?object=${made.body.id}`)
    expect(tried).toMatchObject([{ userName: 's', status: 404, objectProjectId: null }])
    const owners = await audit(member.token, `?object=${made.body.id}`)
    expect(owners).toMatchObject([{ userName: 'm', status: 201 }])
  })

  test('a token is needed, and pages continue where they ended', async () => {
    expect((await bed.askNative('GET', '/audit', null)).status).toBe(401)
    const all = await audit(admin, '?limit=1000')
    const first = await bed.askNative('GET', '/audit?limit=3', admin)
    const second = await bed.askNative('GET', `/audit?limit=3&before=${first.body.next}`, admin)
    expect([...first.body.items, ...second.body.items]).toEqual(all.slice(0, 6))
    expect(await audit(admin, `?since=${all[2]?.time}&limit=1000`)).toMatchObject(
      all.filter(({ time }) => time >= (all[2]?.time ?? '')),
    )
  })

  test.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=1001'],
    ['since', '?since=yesterday'],
    ['before', '?before=x'],
  ])('%s is checked: %s', async (field, query) => {
    expect(await bed.askNative('GET', `/audit${query}`, admin)).toMatchObject({ status: 400, body: { field } })
  })
})

test("a flood of strangers does not push out users' records", async () => {
  const before = bed.audit.strangersLeftOut
  for (let time = 0; time < 400; time++) await bed.askNative('POST', '/networks', null, {})
  expect(bed.audit.strangersLeftOut - before).toBeGreaterThan(100)
  await bed.ask('POST', '/api/v1/networks', member.token, { nonsense: 1 })
  expect(await newest()).toMatchObject({ userName: 'm', code: 'UnknownField' })
})
