import { KINDS, type Kind } from '@spout/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectToBalance } from '../../testing/project-to-balance.ts'
import { type Method, openTestBed, type TestBed } from '../../testing/test-bed.ts'
import { ROUTES } from '../routes.ts'

let bed: TestBed
let admin: string
let member: string
let stranger: string
let poolId: string
let projectId: string

beforeAll(async () => {
  bed = await openTestBed()
  ;({ admin, projectId, poolId } = await projectToBalance(bed))
  await bed.admission.changeProject(projectId, { domains: ['*.example.com'] })
  member = (await bed.login('m', projectId, 'member')).token
  const { id } = await bed.admission.createProject({ name: 'two', description: '' })
  stranger = (await bed.login('s', id, 'member')).token
})
afterAll(() => bed.close())

/** Everything that is stored, but for tokens. */
const stored = async (): Promise<string> => {
  const lists = (Object.keys(KINDS) as Kind[]).map(async (kind) => (await bed.store.list(kind)).items)
  return JSON.stringify([await bed.store.revision(), await Promise.all(lists)])
}

const draft = (fields: object = {}) => ({
  name: 'shop',
  vips: [{ from: 'pool', poolId }],
  pools: [{ name: 'web', protocol: 'tcp', members: [11, 12].map((end) => ({ address: `10.9.0.${end}`, port: 80 })) }],
  listeners: [{ name: 'in', protocol: 'tcp', port: 80, defaultPool: 'web' }],
  ...fields,
})
const create = async (fields: object = {}) => {
  const { status, body } = await bed.askNative('POST', '/load-balancers', member, draft(fields))
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}
const dry = (method: Method, path: string, body?: unknown, token = member, headers: object = {}) =>
  bed.askNative(method, `${path}${path.includes('?') ? '&' : '?'}dryRun=true`, token, body, headers)

const named = { dnsNames: ['shop.example.com'] }

test('a creation says the object, its address, and what each node does', async () => {
  const before = await stored()
  const { status, body, headers } = await dry('POST', '/load-balancers', draft(named))
  expect(status).toBe(200)
  expect(headers).not.toHaveProperty('etag')
  expect(headers).not.toHaveProperty('location')
  expect(body).toMatchObject({
    dryRun: true,
    loadBalancer: { name: 'shop', generation: 1, projectId },
    addresses: [{ address: '198.51.100.1', change: 'taken' }],
    dnsNames: { added: ['shop.example.com'], removed: [] },
    plan: {
      reason: { code: 'Placed', message: 'Node `n1` announces it.' },
      owner: { before: null, after: 'n1' },
      nodes: [
        { nodeName: 'n1', change: 'added', announces: { before: false, after: true }, proxy: 'unchanged' },
        { nodeName: 'n2', change: 'added', announces: { before: false, after: false } },
      ],
      parts: [
        { part: 'listener', name: 'in', change: 'added' },
        { part: 'pool', name: 'web', change: 'added', memberChanges: 2 },
      ],
      connections: [],
    },
  })
  expect(await stored()).toBe(before)
  const made = await create(named)
  expect(made.vips[0].address).toBe('198.51.100.1')
  const { body: gone } = await dry('DELETE', `/load-balancers/${made.id}`)
  expect(gone).toMatchObject({
    loadBalancer: null,
    addresses: [{ address: '198.51.100.1', change: 'released' }],
    dnsNames: { added: [], removed: ['shop.example.com'] },
    plan: {
      nodes: [{ change: 'removed' }, { change: 'removed' }],
      connections: [{ fate: 'end', code: 'Deleted' }],
    },
  })
  expect((await bed.askNative('GET', `/load-balancers/${made.id}`, member)).status).toBe(200)
})

test('a change of a part says what it does to the whole', async () => {
  const { id, pools, listeners, generation } = await create({ name: 'parts' })
  const before = await stored()
  const one = await dry('PUT', `/load-balancers/${id}/pools/${pools[0].id}/members`, {
    members: [{ address: '10.9.0.11', port: 80 }],
  })
  expect(one.body).toMatchObject({
    loadBalancer: { id, generation: generation + 1, pools: [{ members: [{ address: '10.9.0.11' }] }] },
    addresses: [],
    plan: {
      nodes: [{ change: 'changed' }, { change: 'changed' }],
      parts: [{ part: 'pool', change: 'changed', members: [{ address: '10.9.0.12', change: 'removed' }] }],
      connections: [
        {
          ...{ fate: 'drain', code: 'MembersLeave', afterSeconds: 300 },
          // By name, although nothing else is said of the listener.
          ...{ listener: { id: listeners[0].id, name: 'in' }, pool: { id: pools[0].id, name: 'web' } },
        },
      ],
    },
  })
  const named = await dry('PATCH', `/load-balancers/${id}`, { name: 'renamed' })
  expect(named.body).toMatchObject({
    loadBalancer: { name: 'renamed', generation },
    plan: { nodes: [{ change: 'unchanged' }, { change: 'unchanged' }], parts: [], connections: [] },
  })
  expect(await stored()).toBe(before)
})

test('no operation that has a dry run stores anything in it', async () => {
  const answers = { type: 'respond', code: 503 }
  const listeners = [
    { name: 'in', protocol: 'http', port: 80, defaultPool: 'web', routes: [{ name: 'old', action: answers }] },
    { name: 'idle', protocol: 'tcp', port: 81 },
  ]
  const pools = [
    { name: 'web', protocol: 'http', members: [{ address: '10.9.0.11', port: 80 }] },
    { name: 'idle', protocol: 'tcp' },
  ]
  const made = await create({ name: 'all', vips: [1, 2].map(() => ({ from: 'pool', poolId })), pools, listeners })
  const [web, idle] = made.pools
  const [first, second] = made.listeners
  const [member, old] = [web.members[0].id, first.routes[0].id]
  const route = { name: 'new', action: answers }
  const asked: readonly (readonly [method: Method, path: string, parts: Record<string, string>, body?: unknown])[] = [
    ['POST', '/load-balancers', {}, draft()],
    ['PUT', '/load-balancers/:id', {}, { ...draft(), vips: made.vips }],
    ['PATCH', '/load-balancers/:id', {}, { enabled: false }],
    ['DELETE', '/load-balancers/:id', {}],
    ['POST', '/load-balancers/:id/vips', {}, { from: 'pool', poolId }],
    ['DELETE', '/load-balancers/:id/vips/:address', { address: made.vips[1].address }],
    ['POST', '/load-balancers/:id/listeners', {}, { name: 'more', protocol: 'tcp', port: 82 }],
    ['PUT', '/load-balancers/:id/listeners/:part', { part: second.id }, { protocol: 'tcp', port: 83 }],
    ['PATCH', '/load-balancers/:id/listeners/:part', { part: first.id }, { port: 8080 }],
    ['DELETE', '/load-balancers/:id/listeners/:part', { part: first.id }],
    ['POST', '/load-balancers/:id/pools', {}, { name: 'more', protocol: 'tcp' }],
    ['PUT', '/load-balancers/:id/pools/:part', { part: idle.id }, { name: 'other', protocol: 'tcp' }],
    ['PATCH', '/load-balancers/:id/pools/:part', { part: web.id }, { algorithm: 'least-connections' }],
    ['DELETE', '/load-balancers/:id/pools/:part', { part: idle.id }],
    ['PUT', '/load-balancers/:id/pools/:part/members', { part: web.id }, { members: [] }],
    ['PATCH', '/load-balancers/:id/pools/:part/members/:member', { part: web.id, member }, { weight: 0 }],
    ['POST', '/load-balancers/:id/listeners/:part/routes', { part: first.id }, route],
    ['POST', '/load-balancers/:id/listeners/:part/route-changes', { part: first.id }, { put: [route] }],
    ['PUT', '/load-balancers/:id/listeners/:part/routes/:route', { part: first.id, route: old }, route],
    ['DELETE', '/load-balancers/:id/listeners/:part/routes/:route', { part: first.id, route: old }],
  ]
  const known = ROUTES.filter(({ previews }) => previews === true).map(({ method, path }) => `${method} ${path}`)
  expect(asked.map(([method, path]) => `${method} ${path}`).sort()).toEqual(known.sort())
  const before = await stored()
  for (const [method, path, parts, body] of asked) {
    const url = path.replaceAll(/:(\w+)/g, (_, name: string) => ({ ...parts, id: made.id })[name] ?? '')
    const { status, body: said } = await dry(method, url, body)
    expect([status, said?.dryRun], `${method} ${path}: ${JSON.stringify(said)}`).toEqual([200, true])
    expect(await stored(), `${method} ${path}`).toBe(before)
  }
})

test('what a write refuses its dry run refuses with the same words', async () => {
  const { id, pools } = await create({ name: 'refused' })
  const etag = '"0-0"'
  const before = await stored()
  for (const [method, path, body, headers = {}] of [
    ['POST', '/load-balancers', draft({ vips: [{ from: 'pool', poolId: '6f1c3b1e-6a4e-4c56-9f0b-000000000009' }] })],
    ['POST', '/load-balancers', draft({ vips: [{ from: 'pool', poolId, address: '203.0.113.9' }] })],
    ['POST', '/load-balancers', { ...draft(), colour: 'red' }],
    ['PATCH', `/load-balancers/${id}`, { name: 'x' }, { 'if-match': etag }],
    ['DELETE', `/load-balancers/${id}/pools/${pools[0].id}`, undefined],
    ['DELETE', `/load-balancers/${id}?cascade=false`, undefined],
    ['PUT', `/load-balancers/${id}/pools/${pools[0].id}/members`, { members: [{ address: '127.0.0.1', port: 80 }] }],
  ] as const) {
    const said = await dry(method, path, body, member, headers)
    const made = await bed.askNative(method, path, member, body, headers)
    expect(said.status).toBeGreaterThanOrEqual(400)
    expect({ ...said.body, instance: '' }).toEqual({ ...made.body, instance: '' })
  }
  expect(await stored()).toBe(before)
})

test('a dry run takes no quota, which the next one would lack', async () => {
  const { limits, used } = bed.admission.quotaOf(projectId)
  const left = { loadBalancers: used.loadBalancers + 1, addresses: used.addresses + 1 }
  expect((await bed.askNative('PUT', `/projects/${projectId}/quota`, admin, { limits: left })).status).toBe(200)
  const both = await Promise.all([1, 2, 3].map((n) => dry('POST', '/load-balancers', draft({ name: `n${n}` }))))
  expect(both.map(({ status }) => status)).toEqual([200, 200, 200])
  await create({ name: 'last' })
  expect((await dry('POST', '/load-balancers', draft())).body).toMatchObject({ code: 'OverQuota' })
  expect((await bed.askNative('PUT', `/projects/${projectId}/quota`, admin, { limits })).status).toBe(200)
})

test('another project gets nothing, and a reader no dry run', async () => {
  const { id } = await create({ name: 'own' })
  const reader = (await bed.login('r', projectId, 'reader')).token
  for (const [method, body] of [
    ['PUT', { name: 'x' }],
    ['PATCH', { name: 'x' }],
    ['DELETE', undefined],
  ] as const) {
    expect((await dry(method, `/load-balancers/${id}`, body, stranger)).status).toBe(404)
    expect((await dry(method, `/load-balancers/${id}`, body, reader)).status).toBe(403)
  }
})

test('the audit log says nothing of it', async () => {
  const { id } = await create({ name: 'audited' })
  await dry('DELETE', `/load-balancers/${id}`)
  await dry('PATCH', `/load-balancers/${id}`, { name: '' })
  const { items } = await bed.audit.read({ show: (each) => each, since: null, limit: 2, before: null })
  expect(items[0]).toMatchObject({ operation: 'POST /api/v1/load-balancers', status: 201 })
})

test('a write that has no dry run is not made instead', async () => {
  const wrong = await bed.askNative('POST', '/load-balancers?dryRun=maybe', member, draft())
  expect(wrong).toMatchObject({ status: 400, body: { field: 'dryRun' } })
  const before = await stored()
  for (const { method, path, previews, access } of ROUTES) {
    if (method === 'GET' || previews || access === 'anyone') continue
    const url = path.replaceAll(/:\w+/g, '6f1c3b1e-6a4e-4c56-9f0b-000000000009')
    expect(await dry(method, url, {}, admin), `${method} ${path}`).toMatchObject({
      status: 400,
      body: { field: 'dryRun' },
    })
  }
  expect(await stored()).toBe(before)
})
