import { connect, type Socket } from 'node:net'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectToBalance } from '../../testing/project-to-balance.ts'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

const MIB = 1024 * 1024
const ROUTES = 600

let bed: TestBed
let port: number
let admin: string
let member: string
let projectId: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  port = Number(new URL(await bed.app.listen({ host: '127.0.0.1', port: 0 })).port)
  ;({ admin, projectId, poolId } = await projectToBalance(bed))
  member = (await bed.login('m', projectId, 'member')).token
  const limits = { routes: 10_000, pools: 1000, members: 1000 }
  expect((await bed.askNative('PUT', `/projects/${projectId}/quota`, admin, { limits })).status).toBe(200)
})
afterAll(() => bed.close())

const header = (type: string) => ({ type, add: [{ name: 'x-added-header', value: 'added-by-the-route'.repeat(50) }] })
const routeTo = (pool: string, n: number) => ({
  name: `default/route-${n}/rule-0/match-0`,
  conditions: [
    { on: 'host', compare: 'exact', values: [`${n}-route.example.com`] },
    { on: 'path', compare: 'elements', values: [`/${n}`] },
  ],
  action: { type: 'forward', pools: [{ pool }], filters: [header('request-headers'), header('response-headers')] },
})
/** Routes with pools of their own, as an intent for Gateways makes them. */
const document = (routes: number) => {
  const pools = Array.from({ length: 20 }, (_, n) => `pool-${n}`)
  return {
    name: 'long',
    pools: pools.map((name, n) => ({ name, protocol: 'http', members: [{ address: '10.9.0.11', port: 1000 + n }] })),
    listeners: [
      {
        protocol: 'http',
        port: 80,
        routes: Array.from({ length: routes }, (_, n) => routeTo(pools[n % pools.length]!, n)),
      },
    ],
  }
}

/** A connection on which the headers of a request are sent, and nothing of its body. */
async function announced(path: string, bytes: number, token: string | null) {
  const socket: Socket = connect(port, '127.0.0.1')
  let said = ''
  socket.on('data', (data) => {
    said += String(data)
  })
  const lines = [
    ...[`POST /api/v1${path} HTTP/1.1`, 'Host: spout', 'Content-Type: application/json', `Content-Length: ${bytes}`],
    ...(token === null ? [] : [`X-Auth-Token: ${token}`]),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return { socket, said: () => said }
}

test('a load balancer of more than 1 MiB is created, and replaced, as a whole', { timeout: 60_000 }, async () => {
  const wanted = { ...document(ROUTES), vips: [{ from: 'pool', poolId }] }
  expect(JSON.stringify(wanted).length).toBeGreaterThan(MIB)
  const made = await bed.askNative('POST', '/load-balancers', member, wanted)
  expect(made.status, JSON.stringify(made.body).slice(0, 500)).toBe(201)
  expect(made.body.listeners[0].routes).toHaveLength(ROUTES)

  const read = (await bed.askNative('GET', `/load-balancers/${made.body.id}`, member)).body
  const written = await bed.askNative('PUT', `/load-balancers/${read.id}`, member, { ...read, name: 'renamed' })
  expect(written.status, JSON.stringify(written.body).slice(0, 500)).toBe(200)
  expect(written.body.listeners).toEqual(read.listeners)
  const [{ id: listener, routes }] = read.listeners
  const path = `/load-balancers/${read.id}/listeners/${listener}`
  expect((await bed.askNative('PATCH', path, member, { routes: routes.toReversed() })).body.routes).toHaveLength(ROUTES)
})

test('a longer body is refused with its limit, and so is a long one of other operations', async () => {
  const before = bed.view.list('loadBalancer')
  const tooLong = { ...document(1), description: 'x'.repeat(8 * MIB) }
  for (const [path, body, limit] of [
    ['/load-balancers', tooLong, 8 * MIB],
    ['/networks', { name: 'x'.repeat(MIB) }, MIB],
  ] as const) {
    const answer = await bed.askNative('POST', path, member, body)
    expect(answer).toMatchObject({ status: 413, body: { code: 'BodyTooLarge' } })
    expect(answer.body.detail).toContain(String(limit))
  }
  const numbers = { ...document(1), tags: Array.from({ length: 600_000 }, () => 0) }
  const many = await bed.askNative('POST', '/load-balancers', member, numbers)
  expect(many).toMatchObject({ status: 400, body: { field: expect.stringMatching(/^tags/) } })
  expect(many.body.detail).toContain('at most 524288 values')
  expect(bed.view.list('loadBalancer')).toBe(before)
})

test('a long body of a stranger is answered before it is sent', async () => {
  const { socket, said } = await announced('/load-balancers', 8 * MIB, null)
  await waitFor(() => said() !== '', { what: 'an answer' })
  expect(said()).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

test('long bodies under way count for their project, and not for others', async () => {
  const { socket } = await announced('/load-balancers', 8 * MIB, member)
  const small = { name: 'n', vips: [{ from: 'pool', poolId }] }
  const next = () => bed.askNative('POST', '/load-balancers', member, small)
  await waitFor(async () => (await next()).status === 429, { what: 'the body to be counted' })
  const { id: otherId } = await bed.admission.createProject({ name: 'other', description: '' })
  const other = (await bed.login('o', otherId, 'member')).token
  expect((await bed.askNative('POST', '/load-balancers', other, small)).status).toBe(201)
  socket.destroy()
  await waitFor(async () => (await next()).status === 201, { what: 'the body to be forgotten' })
})
