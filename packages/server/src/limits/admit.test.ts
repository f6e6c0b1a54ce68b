import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { SpoutError } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createServer, DOCUMENT_BODY_LIMIT_BYTES, mount } from '../http/host.ts'
import { answerWithProblems } from '../http/problem.ts'
import { received } from '../testing/received.ts'
import { admitByHeaders } from './admit.ts'
import { BodyBudget } from './body-budget.ts'
import { limitConnections } from './connection-limit.ts'
import { RequestShares } from './request-shares.ts'

const MIB = 1024 * 1024

function* pieces(bytes: number, count: number): Generator<string> {
  for (let piece = 0; piece < count; piece++) yield 'x'.repeat(bytes)
}

let app: FastifyInstance
let clock: FakeClock
let shares: RequestShares
let bodies: BodyBudget
let port: number
let finish: (() => void) | null
let turn: () => Promise<void>
/** The senders whose `/s/put` was handled. */
let handled: (string | undefined)[]
const sockets: Socket[] = []

beforeEach(async () => {
  clock = new FakeClock()
  shares = new RequestShares({ clock, perSecond: 10, burst: 1000 })
  bodies = new BodyBudget({ mostBytes: 10 * MIB, mostBytesOfOne: 4 * MIB })
  finish = null
  turn = async () => {}
  handled = []
  app = createServer({ log: silentLogger(), closeGraceMs: 50 })
  const gate: Parameters<typeof mount>[2] = (scope, isOpen) =>
    admitByHeaders(scope, {
      ...{ shares, bodies, strangerOf: () => ({ who: 'stranger' }), turn: () => turn() },
      askerOf: (request) => {
        const { authorization } = request.headers
        if (isOpen(request.routeOptions.url ?? '', request.method)) return { who: 'stranger' }
        if (authorization === undefined) throw new SpoutError('Unauthenticated', { reason: 'no token was sent' })
        return { who: authorization }
      },
    })
  const surface = {
    prefix: '/s',
    bodyLimitBytes: 32 * MIB,
    open: ['POST /login'],
    plugin: async (scope: FastifyInstance) => {
      answerWithProblems(scope)
      scope.post('/login', async () => ({}))
      scope.put('/login', async () => ({}))
      scope.post('/put', async ({ headers }) => {
        handled.push(headers.authorization)
        return {}
      })
      scope.post('/slow', () => new Promise<object>((resolve) => (finish = () => resolve({}))))
      scope.get('/large', async () => ({ text: 'x'.repeat(16_384 * 1500) }))
      scope.get('/streamed', (_request, reply) => reply.send(Readable.from(pieces(16_384, 1500))))
    },
  }
  mount(app, surface, gate)
  limitConnections(app.server, { most: 6, mostOfSource: 5 })
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  shares.close()
  await app.close()
})

/** A connection and all that it has received. It ends only when the client says so, if it is half open. */
async function connected(allowHalfOpen = false): Promise<{ socket: Socket; said(): string; ended(): boolean }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
  sockets.push(socket)
  const { text, isClosed } = received(socket)
  await once(socket, 'connect')
  return { socket, said: text, ended: isClosed }
}
const head = (path: string, length: number, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: spout\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`

describe('a request with a body and without a token', () => {
  test('is answered before its body is sent, and the connection is closed', async () => {
    const { socket, said, ended } = await connected()
    socket.write(head('/s/put', 32 * MIB))
    await waitFor(() => ended(), { what: 'the connection to be closed' })
    expect(said()).toMatch(/^HTTP\/1\.1 401 /)
    expect(said()).toContain('"code":"Unauthenticated"')
    expect(said()).toMatch(/connection: close/i)
    expect(bodies.bytes).toBe(0)
  })

  test('may send on after the answer, which is not lost to a reset', async () => {
    const { socket, said } = await connected(true)
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    socket.write(head('/s/put', 32 * MIB) + 'x'.repeat(200_000))
    await once(socket, 'end')
    await new Promise<unknown>((sent) => socket.write('x'.repeat(200_000), sent))
    // Of a request after the body nothing is heard.
    await new Promise<void>((sent) => socket.end(`${head('/s/put', 2, 'Authorization: one\r\n')}{}`, sent))
    await waitFor(() => socket.closed, { what: 'the connection to be closed' })
    expect(errors).toEqual([])
    expect(said()).toMatch(/^HTTP\/1\.1 401 /)
    expect(handled).toEqual([])
  })

  test('may be written whole before the answer is read, if it is no longer than two of the longest bodies', async () => {
    const { socket, said } = await connected(true)
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    // More than the kernel holds for both sides.
    const length = 2 * DOCUMENT_BODY_LIMIT_BYTES
    await new Promise<unknown>((sent) => socket.write(head('/s/put', length) + 'x'.repeat(length), sent))
    socket.end()
    await waitFor(() => socket.closed, { what: 'the connection to be closed' })
    expect(errors).toEqual([])
    expect(said()).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('a chunked one likewise; a path that is none likewise', async () => {
    const { socket, said, ended } = await connected()
    socket.write('POST /s/put HTTP/1.1\r\nHost: spout\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
    await waitFor(() => ended(), { what: 'the connection to be closed' })
    expect(said()).toMatch(/^HTTP\/1\.1 401 /)
    const nowhere = await connected()
    nowhere.socket.write(head('/s/nowhere', 32 * MIB))
    await waitFor(() => nowhere.ended(), { what: 'the connection to be closed' })
    expect(nowhere.said()).toMatch(/^HTTP\/1\.1 404 /)
  })

  test('a short one costs no connection', async () => {
    const { socket, said, ended } = await connected()
    for (const _ of [1, 2]) socket.write(`${head('/s/put', 2)}{}`)
    await waitFor(() => said().match(/HTTP\/1\.1 401 /g)?.length === 2, { what: 'two answers' })
    expect(ended()).toBe(false)
  })

  test('may log in, with a body of limited size', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(40_000) })
    const headers = { 'content-type': 'application/json' }
    expect((await app.inject({ method: 'POST', url: '/s/login', headers, payload: text })).statusCode).toBe(413)
    expect((await app.inject({ method: 'POST', url: '/s/login', headers, payload: '{}' })).statusCode).toBe(200)
    // Another method of the same path is not for strangers.
    expect((await app.inject({ method: 'PUT', url: '/s/login', headers, payload: '{}' })).statusCode).toBe(401)
  })
})

describe('bodies being read', () => {
  const authorization = 'Authorization: one\r\n'

  test('are limited for each client; the next is told when to retry, and the connection stays', async () => {
    const { socket } = await connected()
    socket.write(head('/s/slow', 3 * MIB, authorization))
    await waitFor(() => bodies.bytes === 3 * MIB, { what: 'the first to be counted' })
    const second = await connected()
    second.socket.write(head('/s/put', 2 * MIB, authorization))
    await waitFor(() => second.ended(), { what: 'the second to be refused' })
    expect(second.said()).toMatch(/^HTTP\/1\.1 429 /)
    expect(second.said()).toMatch(/retry-after: 1/i)
    const other = await connected()
    other.socket.write(`${head('/s/put', 2, 'Authorization: other\r\n')}{}`)
    await waitFor(() => other.said().startsWith('HTTP/1.1 200'), { what: 'another client to be served' })
    socket.destroy()
    await waitFor(() => bodies.bytes === 0, { what: 'what was held to be given back' })
  })

  test('are released when they are answered', async () => {
    const { socket, said } = await connected()
    socket.write(`${head('/s/slow', 2, authorization)}{}`)
    await waitFor(() => finish !== null, { what: 'the handler' })
    expect(bodies.bytes).toBe(2)
    finish?.()
    await waitFor(() => said().startsWith('HTTP/1.1 200') && bodies.bytes === 0, { what: 'the answer' })
  })
})

describe('a long body', () => {
  const put = (who: string, body: object) =>
    fetch(`http://127.0.0.1:${port}/s/put`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: who },
      body: JSON.stringify(body),
    })

  test('is read and parsed in turns, and a short one of another client goes ahead', async () => {
    const held: (() => void)[] = []
    turn = () => new Promise((go) => held.push(go))
    const tags = Array.from({ length: 5000 }, () => 'a tag')
    const long = [1, 2, 3].map(() => put('greedy', { tags }))
    await waitFor(() => held.length === 3, { what: 'the long ones to wait' })
    expect((await put('quiet', { name: 'short' })).status).toBe(200)
    expect(handled).toEqual(['quiet'])
    let turns = 0
    while (handled.length < 4) {
      await waitFor(() => held.length > 0 || handled.length === 4, { what: 'the next turn' })
      if (held.length === 0) break
      turns++
      held.shift()?.()
    }
    expect((await Promise.all(long)).map(({ status }) => status)).toEqual([200, 200, 200])
    // 40 kB each, and its end.
    expect(turns).toBeGreaterThanOrEqual(3 * 4)
  })

  test('is refused where a text in it is too long, and its client gets the answer', async () => {
    const answer = await put('one', { tags: ['short', 'x'.repeat(3 * MIB)] })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'InvalidField',
      field: 'tags[1]',
      detail: 'Field tags[1]: must be at most 32768 bytes as JSON',
    })
    expect(handled).toEqual([])
    await waitFor(() => bodies.bytes === 0, { what: 'its room to be free' })
  })

  test('whose client goes away costs no more than its turns', async () => {
    const { socket } = await connected()
    let turns = 0
    turn = async () => {
      turns++
    }
    socket.write(`${head('/s/put', MIB, 'Authorization: one\r\n')}{"tags":[`)
    await waitFor(() => turns > 0, { what: 'its beginning to be read' })
    socket.destroy()
    await waitFor(() => bodies.bytes === 0, { what: 'its room to be free' })
    expect(handled).toEqual([])
    expect((await put('one', { tags: [] })).status).toBe(200)
  })
})

const large = ['/s/large', '/s/streamed']
test.each(large)('what is answered is charged (%s): who reads much asks less often, others as before', async (path) => {
  const get = (who: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: who } })
  const first = await get('reader')
  expect(first.status).toBe(200)
  await first.text()
  const waiting = get('reader')
  await waitFor(() => shares.waiting === 1, { what: 'the reader to wait' })
  expect((await app.inject({ method: 'POST', url: '/s/put', headers: { authorization: 'other' } })).statusCode).toBe(
    200,
  )
  await clock.advance(1100)
  const refused = await waiting
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(10)
})

test('connections of one address are limited; a closed one makes room', async () => {
  const open = await Promise.all([1, 2, 3, 4, 5].map(() => connected()))
  const { ended, socket } = await connected()
  socket.write('GET /s/nowhere HTTP/1.1\r\nHost: spout\r\n\r\n')
  await waitFor(() => ended(), { what: 'the sixth to be ended' })
  open[0]?.socket.destroy()
  await waitFor(
    async () => {
      const next = await connected()
      next.socket.write('GET /s/nowhere HTTP/1.1\r\nHost: spout\r\n\r\n')
      await waitFor(() => next.said() !== '' || next.ended(), { what: 'an answer or the end' })
      return next.said().startsWith('HTTP/1.1 404')
    },
    { what: 'room for another' },
  )
})
