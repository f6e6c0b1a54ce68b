import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { SqliteStore } from '@spout/store'
import {
  type Account,
  callApi,
  createTenant,
  Lab,
  passwordToken,
  type ShownLoadBalancer,
  type SystemAccess,
  startControlPlane,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEYSTONE, logIn } from './bad-input/keystone.ts'
import { NATIVE } from './bad-input/native.ts'
import { NEUTRON } from './bad-input/neutron.ts'
import { OCTAVIA } from './bad-input/octavia.ts'
import type { Bad, Known } from './bad-input/refusal.ts'
import { ACME, BOLT, balancer } from './fixtures.ts'

/** Only the control plane: refused requests never reach a node. */
let lab: Lab
let access: SystemAccess
let known: Known

beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
  const [acme, bolt] = [await createTenant(access, ACME), await createTenant(access, BOLT)]
  const api = <T>(who: Pick<Account, 'token'>, method: string, url: string, body: unknown) =>
    callApi<T>(access.endpoint, who.token, method, url, body)
  const createPool = (name: string, net: string, last: number) =>
    api<{ id: string }>(access.admin, 'POST', '/address-pools', {
      name,
      ranges: [{ first: `${net}.10`, last: `${net}.${last}` }],
      cidr: `${net}.0/24`,
    })
  const { id: fullPool } = await createPool('full', '192.0.2', 11)
  const { id: pool } = await createPool('public', '198.51.100', 50)
  const create = (who: Account, name: string, address: string) =>
    api<ShownLoadBalancer>(who, 'POST', '/load-balancers', {
      ...balancer(name, 'tcp'),
      vips: [{ from: 'pool', poolId: fullPool, address }],
    })
  const own = await create(acme, 'own', '192.0.2.10')
  const foreign = await create(bolt, 'foreign', '192.0.2.11')
  await api(access.admin, 'PUT', `/projects/${acme.projectId}/quota`, { limits: { loadBalancers: 2, members: 5 } })
  const expiredToken = await expireToken(acme)
  known = { adminToken: access.admin.token, acme, bolt, fullPool, pool, own, foreign, expiredToken }
})

afterAll(() => lab?.destroy())

/** A token that was once valid: its expiry is set back in the store while the control plane is down. */
async function expireToken(account: Account): Promise<string> {
  const { token } = await passwordToken(access.endpoint, account)
  const port = Number(new URL(access.endpoint).port)
  await lab.stop(lab.process('control-plane')!)
  const store = await SqliteStore.open({ path: join(lab.directory, 'control-plane', 'spout.db') })
  const stored = await store.get('token', createHash('sha256').update(token).digest('hex'))
  const { id, scope, value } = stored!
  const expired = { ...(value as object), expiresAt: '2020-01-01T00:00:00.000Z' }
  await store.commit([{ op: 'put', kind: 'token', id, scope, value: expired }])
  await store.close()
  access = await startControlPlane(lab, { port })
  return token
}

const COLLECTIONS = [
  'load-balancers',
  'networks',
  'address-pools',
  'addresses',
  'projects',
  'users',
  'nodes',
  'node-groups',
  'enrolment-tokens',
]

/** All stored objects, as the administrator sees them. */
async function everything(): Promise<unknown> {
  const all = COLLECTIONS.map(async (name) => {
    const { items } = await callApi<{ items: object[] }>(access.endpoint, access.admin.token, 'GET', `/${name}`)
    // A status is not stored, and changes at other times.
    return items.map((item) => ({ ...item, status: null }))
  })
  return Object.fromEntries((await Promise.all(all)).map((items, index) => [COLLECTIONS[index], items]))
}

async function ask(prefix: string, { method = 'POST', path, body, token }: Omit<Bad, 'what' | 'status' | 'says'>) {
  const content = body?.(known)
  const bearer = token?.(known) ?? known.acme.token
  return fetch(`${access.endpoint}${prefix}${path(known)}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      'x-auth-token': bearer,
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(content === undefined ? {} : { body: typeof content === 'string' ? content : JSON.stringify(content) }),
  })
}

describe.each([
  { surface: 'native', prefix: '/api/v1', rows: NATIVE },
  { surface: 'Octavia', prefix: '/load-balancer/v2/lbaas', rows: OCTAVIA },
  { surface: 'Keystone', prefix: '/identity/v3', rows: KEYSTONE },
  { surface: 'Neutron', prefix: '/network/v2.0', rows: NEUTRON },
])('the $surface API refuses', ({ prefix, rows }) => {
  it.each(rows)('$what', async (row) => {
    const before = await everything()
    const answer = await ask(prefix, row)
    const text = await answer.text()
    expect([answer.status, text]).toEqual([row.status, expect.any(String)])
    for (const words of row.says) expect(text).toMatch(words)
    // No internals of ours, and nothing of the other tenant.
    expect(text).not.toMatch(/node_modules|\.ts:\d|at \w+ \(|SQLITE|foreign/)
    expect(await everything()).toEqual(before)
  })
})

describe('quota', () => {
  const create = (name: string): Promise<Response> =>
    ask('/api/v1', {
      path: () => '/load-balancers',
      body: ({ pool }) => ({ name, vips: [{ from: 'pool', poolId: pool }] }),
    })
  const remove = async (created: Response): Promise<void> => {
    const { id } = (await created.json()) as { id: string }
    await ask('/api/v1', { method: 'DELETE', path: () => `/load-balancers/${id}?cascade=true` })
  }

  it('is told in numbers, and one over it takes nothing', async () => {
    const second = await create('second')
    expect(second.status).toBe(201)
    const before = await everything()
    const third = await create('third')
    expect(third.status).toBe(403)
    const detail = 'Quota for loadBalancers is 2, 2 in use, 1 more wanted'
    expect(await third.json()).toMatchObject({ code: 'OverQuota', detail })
    expect(await everything()).toEqual(before)
    await remove(second)
  })

  it('of many at once, no more than it allows are let in', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`racer-${index}`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403, 403, 403, 403, 403, 403])
    await remove(answers.find(({ status }) => status === 201)!)
  })
})

it('a user who is not there and a wrong password read alike', async () => {
  const attempt = async (name: string): Promise<string> =>
    (await ask('/identity/v3', { path: () => '/auth/tokens', body: () => logIn(name, 'wrong') })).text()
  expect(await attempt('alice')).toBe(await attempt('nobody'))
})
