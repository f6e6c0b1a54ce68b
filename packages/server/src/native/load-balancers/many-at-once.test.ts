import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { edited } from '@spout/model'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { projectToBalance } from '../../testing/project-to-balance.ts'
import { type Method, openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let member: string
let reader: string
let stranger: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  const { projectId, ...project } = await projectToBalance(bed)
  poolId = project.poolId
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = (await bed.login('m', projectId, 'balancer')).token
  reader = (await bed.login('r', projectId, 'reader')).token
  stranger = (await bed.login('s', other, 'member')).token
})
afterAll(() => bed.close())

const call = (method: Method, path: string, payload?: unknown, token = member) =>
  bed.askNative(method, path, token, payload)

const draft = (name: string, more: object = {}) => ({
  name,
  vips: [{ from: 'pool', poolId }],
  pools: [{ name: 'p', protocol: 'tcp', members: [{ address: '10.9.0.11', port: 80 }] }],
  listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }],
  ...more,
})
const create = async (name: string) => (await call('POST', '/load-balancers', draft(name))).body
const now = async (id: string) => (await call('GET', `/load-balancers/${id}`)).body
const changes = (...all: readonly object[]) => call('POST', '/load-balancers/member-changes', { changes: all })

test('several load balancers are created in one call, each on its own', async () => {
  const id = crypto.randomUUID()
  const wanted = [draft('a', { id }), draft('b', { nodeGroupId: crypto.randomUUID() }), draft('c', { id }), draft('d')]
  const { status, body } = await call('POST', '/load-balancers/batch', { loadBalancers: wanted })
  expect(status).toBe(200)
  expect(body.results).toMatchObject([
    { loadBalancer: { id, name: 'a', status: { provisioning: 'pending' } } },
    { error: { status: 400, code: 'ReferenceNotFound', field: 'nodeGroupId' } },
    { error: { status: 409, code: 'AlreadyExists' } },
    { loadBalancer: { name: 'd' } },
  ])
  expect(await now(id)).toEqual(body.results[0].loadBalancer)
})

test('a body that does not parse is refused as a whole', async () => {
  const before = (await call('GET', '/load-balancers')).body.items.length
  const refused = [
    [{ loadBalancers: [draft('x'), { ...draft('y'), colour: 'red' }] }, 'UnknownField', 'loadBalancers[1].colour'],
    [{ loadBalancers: [] }, 'InvalidField', 'loadBalancers'],
  ] as const
  for (const [body, code, field] of refused)
    expect(await call('POST', '/load-balancers/batch', body)).toMatchObject({ status: 400, body: { code, field } })
  expect((await call('POST', '/load-balancers/batch', { loadBalancers: [draft('x')] }, reader)).status).toBe(403)
  expect((await call('GET', '/load-balancers')).body.items).toHaveLength(before)
})

test('members of pools of many load balancers change in one call', async () => {
  const [one, two] = [await create('one'), await create('two')]
  const { status, body } = await changes(
    { loadBalancerId: one.id, pool: 'p', put: [{ address: '10.9.0.12', port: 80, weight: 3 }] },
    { loadBalancerId: two.id, pool: two.pools[0].id, remove: [{ address: '10.9.0.11', port: 80 }] },
    { loadBalancerId: one.id, pool: 'p', put: [{ address: '10.9.0.11', port: 80, weight: 5 }] },
  )
  expect(status).toBe(200)
  const after = await now(one.id)
  expect(
    after.pools[0].members.map(({ address, weight }: { address: string; weight: number }) => [address, weight]),
  ).toEqual([
    ['10.9.0.11', 5],
    ['10.9.0.12', 3],
  ])
  expect(after.pools[0].members[0]).toMatchObject({ id: one.pools[0].members[0].id })
  expect((await now(two.id)).pools[0].members).toEqual([])
  expect(body.results).toEqual([
    expect.objectContaining({ loadBalancerId: one.id, put: [after.pools[0].members[1]] }),
    { loadBalancerId: two.id, poolId: two.pools[0].id, generation: 2, updatedAt: expect.any(String), put: [] },
    expect.objectContaining({
      generation: after.generation,
      updatedAt: after.updatedAt,
      put: [after.pools[0].members[0]],
    }),
  ])
})

test('a change that fails does not affect the others, and changes nothing', async () => {
  const [one, two] = [await create('one'), await create('two')]
  const put = [{ address: '10.9.0.12', port: 80 }]
  const { body } = await changes(
    { loadBalancerId: one.id, pool: 'nosuch', put },
    { loadBalancerId: crypto.randomUUID(), pool: 'p', put },
    { loadBalancerId: one.id, pool: 'p', put: [...put, { address: '10.77.0.1', port: 80 }] },
    { loadBalancerId: one.id, pool: 'p', put: [{ id: crypto.randomUUID(), address: '10.9.0.14', port: 80 }] },
    { loadBalancerId: two.id, pool: 'p', put },
  )
  expect(body.results).toMatchObject([
    { loadBalancerId: one.id, error: { status: 404, code: 'NotFound' } },
    { error: { status: 404, code: 'NotFound' } },
    { error: { status: 400, code: 'MemberOutsideNetworks', field: 'put[1].address', retry: 'onChange' } },
    { error: { status: 400, code: 'ReferenceNotFound', field: 'put[0].id' } },
    { loadBalancerId: two.id, put: [{ address: '10.9.0.12' }] },
  ])
  expect(await now(one.id)).toEqual(one)
  const malformed = [
    [{ loadBalancerId: one.id, pool: 'p', put: [{ address: '10.9.0.300', port: 80 }] }, 'changes[0].put[0].address'],
    [{ loadBalancerId: one.id, pool: 'p', remove: [{ address: '10.9.0.11' }] }, 'changes[0].remove[0].port'],
    [{ loadBalancerId: 'x', pool: 'p' }, 'changes[0].loadBalancerId'],
  ] as const
  for (const [change, field] of malformed) expect(await changes(change)).toMatchObject({ status: 400, body: { field } })
  expect(await now(one.id)).toEqual(one)
})

test("another project's load balancer is not found", async () => {
  const one = await create('one')
  const change = { loadBalancerId: one.id, pool: 'p', remove: [{ address: '10.9.0.11', port: 80 }] }
  const { body } = await call('POST', '/load-balancers/member-changes', { changes: [change] }, stranger)
  expect(body.results).toMatchObject([{ error: { status: 404, code: 'NotFound' } }])
  expect((await call('POST', '/load-balancers/member-changes', { changes: [change] }, reader)).status).toBe(403)
  expect(await now(one.id)).toEqual(one)
})

test('a brief watch sends only edits of what it sent before', async () => {
  const url = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  const abort = new AbortController()
  const reply = await fetch(`${url}/api/v1/load-balancers?watch=1&brief=1`, {
    headers: { authorization: `Bearer ${member}` },
    signal: abort.signal,
  })
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
  const lines: any[] = []
  const reading = (async () => {
    for await (const line of createInterface({ input: Readable.fromWeb(reply.body!) })) lines.push(JSON.parse(line))
  })().catch(() => {})
  const about = (id: string) => lines.filter(({ object }) => object?.id === id)
  const told = (id: string, count: number) =>
    vi.waitUntil(() => about(id).length >= count && about(id), { timeout: 10_000 })

  const one = await create('watched')
  const [whole] = await told(one.id, 1)
  expect(whole).toMatchObject({ type: 'ADDED', object: { pools: one.pools, status: { reason: 'WaitingForNode' } } })
  expect(whole.object.status).not.toHaveProperty('members')

  const [added] = (await changes({ loadBalancerId: one.id, pool: 'p', put: [{ address: '10.9.0.12', port: 80 }] })).body
    .results
  const [, changed] = await told(one.id, 2)
  expect(changed).toEqual({
    type: 'CHANGED',
    revision: expect.any(String),
    object: { id: one.id },
    edits: [
      [['updatedAt'], 'set', added.updatedAt],
      [['generation'], 'set', 2],
      [['pools', 0, 'members'], 'list', [[0, 1], { items: added.put }]],
    ],
  })
  const { members: _m, nodes: _n, stats: _s, ...summary } = (await now(one.id)).status
  expect(edited(whole.object, changed.edits)).toEqual({ ...(await now(one.id)), status: summary })

  bed.status.set(one.id, { provisioning: 'active', reason: 'Programmed', message: '', confirmedGeneration: 2 })
  const [, , status] = await told(one.id, 3)
  expect(status.edits).toEqual([
    [['status', 'provisioning'], 'set', 'active'],
    [['status', 'reason'], 'set', 'Programmed'],
    [['status', 'message'], 'set', ''],
    [['status', 'confirmedGeneration'], 'set', 2],
  ])
  // A status that is the same as before is not sent again.
  bed.status.set(one.id, { provisioning: 'active', reason: 'Programmed', message: '', confirmedGeneration: 2 })
  await call('PATCH', `/load-balancers/${one.id}`, { name: 'renamed' })
  const [, , , renamed] = await told(one.id, 4)
  expect(renamed.edits).toEqual([
    [['name'], 'set', 'renamed'],
    [['updatedAt'], 'set', expect.any(String)],
  ])
  // The whole document is put, with all parts as new objects. The watch gets only the differences.
  const { listeners, pools } = await now(one.id)
  const fewer = pools.with(0, { ...pools[0], members: pools[0].members.slice(1) })
  await call('PUT', `/load-balancers/${one.id}`, { name: 'renamed', listeners, pools: fewer })
  const [, , , , shrunk] = await told(one.id, 5)
  expect(shrunk.edits).toContainEqual([['pools', 0, 'members'], 'list', [[1, 1]]])
  expect(shrunk.edits).toHaveLength(3)
  await call('DELETE', `/load-balancers/${one.id}`)
  const gone = await told(one.id, 6)
  expect(gone[5]).toMatchObject({ type: 'DELETED', object: { id: one.id } })
  abort.abort()
  await reading
})
