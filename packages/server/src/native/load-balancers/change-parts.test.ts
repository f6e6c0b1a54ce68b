import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectToBalance } from '../../testing/project-to-balance.ts'
import { type Method, openTestBed, type TestBed } from '../../testing/test-bed.ts'
import { listenerDraft, poolDraft } from '../drafts/load-balancer-draft.ts'
import { merged, mergeOf } from '../operations/merge-change.ts'

let bed: TestBed
let member: string
let reader: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  const { projectId, ...project } = await projectToBalance(bed)
  poolId = project.poolId
  member = (await bed.login('m', projectId, 'member')).token
  reader = (await bed.login('r', projectId, 'reader')).token
})
afterAll(() => bed.close())

const call = (method: Method, path: string, payload?: unknown, token = member) =>
  bed.askNative(method, path, token, payload)

/** A load balancer with the paths of its parts. */
async function create() {
  const { body } = await call('POST', '/load-balancers', {
    name: 'web',
    tags: ['a'],
    vips: [{ from: 'pool', poolId }],
    pools: [
      {
        name: 'p',
        protocol: 'tcp',
        members: [
          { name: 'a', address: '10.9.0.11', port: 80 },
          { name: 'b', address: '10.9.0.12', port: 80, weight: 3 },
        ],
        monitor: { type: 'http', intervalMs: 2000, http: { path: '/ready', method: 'HEAD' } },
      },
    ],
    listeners: [{ name: 'l', protocol: 'tcp', port: 80, defaultPool: 'p', timeouts: { clientMs: 1000 } }],
  })
  const path = `/load-balancers/${body.id}`
  const pool = `${path}/pools/${body.pools[0].id}`
  return {
    ...{ before: body, path, pool, listener: `${path}/listeners/${body.listeners[0].id}` },
    member: (index: number) => `${pool}/members/${body.pools[0].members[index].id}`,
    now: async () => (await call('GET', path)).body,
  }
}

const own = ({ generation: _, updatedAt: __, status: ___, ...rest }: Record<string, unknown>) => rest

test('absent fields stay, of a load balancer and of each of its parts', async () => {
  const made = await create()
  expect((await call('PATCH', made.path, { description: 'new' })).status).toBe(200)
  expect(own(await made.now())).toEqual(own({ ...made.before, description: 'new' }))

  const listener = await call('PATCH', made.listener, { timeouts: { memberMs: 7 }, allowedCidrs: ['203.0.113.0/24'] })
  const [stored] = made.before.listeners
  expect(own(listener.body)).toEqual(
    own({ ...stored, timeouts: { ...stored.timeouts, memberMs: 7 }, allowedCidrs: ['203.0.113.0/24'] }),
  )
  expect((await call('PATCH', made.listener, { allowedCidrs: null })).body.allowedCidrs).toBeNull()

  const pool = await call('PATCH', made.pool, { algorithm: 'source-ip', monitor: { fall: 5 } })
  expect(pool.body).toMatchObject({ algorithm: 'source-ip', members: made.before.pools[0].members })
  expect(own(pool.body.monitor)).toEqual(own({ ...made.before.pools[0].monitor, fall: 5 }))

  const changed = await call('PATCH', made.member(1), { weight: 0 })
  expect(own(changed.body)).toEqual(own({ ...made.before.pools[0].members[1], weight: 0 }))
  expect((await made.now()).pools[0].members.map(({ weight }: { weight: number }) => weight)).toEqual([1, 0])
})

test('a pool is updated by its own fields alone, not by its members or its monitor', async () => {
  const { before, path, pool, member: at, now } = await create()
  const times = async () => {
    const { members, monitor, updatedAt } = (await now()).pools[0]
    return {
      pool: updatedAt,
      members: members.map((one: { updatedAt: string | null }) => one.updatedAt),
      monitor: monitor.updatedAt,
    }
  }
  await call('PATCH', at(0), { weight: 9 })
  expect(await times()).toEqual({ pool: null, members: [expect.any(String), null], monitor: null })
  const [, second] = before.pools[0].members
  await call('PUT', `${pool}/members`, { members: [{ ...second, weight: 4 }] })
  expect(await times()).toEqual({ pool: null, members: [expect.any(String)], monitor: null })
  await call('PATCH', pool, { monitor: { intervalMs: 3000 } })
  expect(await times()).toMatchObject({ pool: null, monitor: expect.any(String) })
  const { listeners, pools } = await now()
  await call('PUT', path, { listeners, pools: [{ ...pools[0], members: [] }] })
  expect(await times()).toMatchObject({ pool: null, members: [] })
  await call('PATCH', pool, { algorithm: 'source-ip' })
  expect(await times()).toMatchObject({ pool: expect.any(String) })
})

test('a monitor is added, changes its type and is removed', async () => {
  const made = await create()
  const tcp = await call('PATCH', made.pool, { monitor: { type: 'tcp' } })
  expect(tcp.body.monitor).toMatchObject({ type: 'tcp', http: null, intervalMs: 2000 })
  const http = await call('PATCH', made.pool, { monitor: { type: 'http', http: { path: '/x' } } })
  expect(http.body.monitor).toMatchObject({ type: 'http', http: { path: '/x', method: 'GET' } })
  expect((await call('PATCH', made.pool, { monitor: null })).body.monitor).toBeNull()
  expect((await call('PATCH', made.pool, { monitor: { fall: 2 } })).body).toMatchObject({ field: 'monitor.type' })
  expect((await call('PATCH', made.pool, { monitor: { type: 'ping' } })).body.monitor).toMatchObject({ fall: 3 })
})

test('a listener changes its pool by id or by name', async () => {
  const made = await create()
  const { body: other } = await call('POST', `${made.path}/pools`, { name: 'q', protocol: 'tcp' })
  expect((await call('PATCH', made.listener, { defaultPool: 'q' })).body.defaultPoolId).toBe(other.id)
  expect((await call('PATCH', made.listener, { defaultPoolId: null })).body.defaultPoolId).toBeNull()
  expect((await call('PATCH', made.listener, { defaultPoolId: other.id })).body.defaultPoolId).toBe(other.id)
})

test('errors name the field as the caller wrote it, and nothing is changed', async () => {
  const made = await create()
  const refused = [
    [made.path, { colour: 'red' }, 400, 'UnknownField', 'colour'],
    [made.path, { name: 7 }, 400, 'InvalidField', 'name'],
    [made.path, { vips: [] }, 400, 'UnknownField', 'vips'],
    [made.listener, { port: 0 }, 400, 'InvalidField', 'port'],
    [made.listener, { timeouts: { clientMs: -1 } }, 400, 'InvalidField', 'timeouts.clientMs'],
    [made.listener, { defaultPool: 'nosuch' }, 400, 'ReferenceNotFound', 'defaultPool'],
    [made.pool, { monitor: { rise: 0 } }, 400, 'InvalidField', 'monitor.rise'],
    [made.pool, { monitor: { intervalMs: 500 } }, 400, 'InvalidField', 'monitor.timeoutMs'],
    [made.member(0), { weight: 300 }, 400, 'InvalidField', 'weight'],
    [made.member(0), { address: '10.77.0.1' }, 400, 'MemberOutsideNetworks', 'address'],
    [made.member(0), { address: '10.9.0.12' }, 409, 'MemberTaken', undefined],
  ] as const
  for (const [path, body, status, code, field] of refused) {
    const answer = await call('PATCH', path, body)
    expect(answer, JSON.stringify(body)).toMatchObject({ status, body: { code, ...(field && { field }) } })
  }
  expect((await call('PATCH', made.path, { name: 'x' }, reader)).status).toBe(403)
  expect((await call('PATCH', `${made.pool}/members/${crypto.randomUUID()}`, { weight: 1 })).status).toBe(404)
  expect(await made.now()).toEqual(made.before)
})

test('an empty change changes nothing', () => {
  for (const draft of [poolDraft, listenerDraft]) expect(mergeOf(draft).parse({})).toEqual({})
  const stored = { a: 1, b: { c: [1, 2], d: null }, e: null }
  expect(merged(stored, {})).toEqual(stored)
  expect(merged(stored, { b: { c: [3] }, e: { f: 1 } })).toEqual({ a: 1, b: { c: [3], d: null }, e: { f: 1 } })
})

test('what a change of a pool does not name is not made anew: its members, and those of other pools', async () => {
  const made = await create()
  const poolsNow = () => bed.view.get('loadBalancer', made.before.id)!.value.pools
  const [before] = poolsNow()
  expect((await call('PATCH', made.pool, { panicThreshold: 5, monitor: { rise: 4 } })).status).toBe(200)
  const [after] = poolsNow()
  expect(after).toMatchObject({ panicThreshold: 5, monitor: { rise: 4 } })
  expect(after!.members).toBe(before!.members)
})
