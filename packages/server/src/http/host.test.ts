import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ErrorCode, SpoutError } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { waitFor } from '@spout/testkit'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { received } from '../testing/received.ts'
import { type Answer, createServer, mount } from './host.ts'
import { answerWithProblems } from './problem.ts'

let app: FastifyInstance
let answers: Answer[]

beforeEach(() => {
  answers = []
  app = createServer({ log: silentLogger(), closeGraceMs: 50, onAnswer: (answer) => answers.push(answer) })
  mount(app, {
    prefix: '/small',
    bodyLimitBytes: 100,
    plugin: async (scope) => {
      answerWithProblems(scope)
      scope.post('/echo', async (request) => ({ body: request.body ?? null }))
      scope.get('/things/:id', async (request) => {
        throw new SpoutError('NotFound', { what: 'Thing', id: (request.params as { id: string }).id })
      })
      scope.get('/bug', async () => {
        throw new Error('canary-secret in /etc/path')
      })
      scope.get('/stored/:code', async (request) => {
        throw new SpoutError((request.params as { code: ErrorCode }).code, { reason: 'it is closed' })
      })
      scope.get('/known', async () => {
        throw new SpoutError('NotFound', { what: 'Thing', id: '1' })
      })
    },
  })
  mount(app, {
    prefix: '/large',
    bodyLimitBytes: 1000,
    plugin: async (scope) => {
      scope.post('/echo', async (request) => ({ body: request.body }))
    },
  })
})

afterEach(() => app.close())

const json = { 'content-type': 'application/json' }

test.each([
  ['StoreUnavailable', 503, 'The store does not accept writes: it is closed'],
  ['StoredUnknown', 502, 'It is not known whether this is stored: it is closed'],
])('a store that answers %s', async (code, status, detail) => {
  const reply = await app.inject({ method: 'GET', url: `/small/stored/${code}` })
  expect(reply.statusCode).toBe(status)
  expect(reply.headers['retry-after']).toBe('1')
  expect(reply.json()).toMatchObject({ status, code, detail, retry: 'backoff' })
})

describe('a URL that cannot be decoded is answered by its surface', () => {
  test.each([
    ['an id of 300 characters', `/small/things/${'a'.repeat(300)}`],
    ['a percent sign that encodes nothing', '/small/things/%'],
    ['a percent sign that encodes half a character', '/small/things/%c3'],
    ['letters that are no hexadecimal digits', '/small/things/%zz?x=%zz'],
    ['a path that is none', '/small/%ff/echo'],
  ])('%s', async (_, url) => {
    const reply = await app.inject({ method: 'GET', url })
    expect(reply.statusCode).toBe(404)
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(reply.json()).toMatchObject({ status: 404, code: 'NotFound' })
  })
})

describe('limits and bodies', () => {
  test.each([
    ['/small/echo', 'x'.repeat(200), 413, 'BodyTooLarge'],
    ['/large/echo', 'x'.repeat(200), 200, undefined],
    ['/large/echo', 'x'.repeat(2000), 413, undefined],
  ])('%s with a long body', async (url, text, status, code) => {
    const reply = await app.inject({ method: 'POST', url, headers: json, payload: JSON.stringify({ text }) })
    expect(reply.statusCode).toBe(status)
    if (code !== undefined) expect(reply.json().code).toBe(code)
  })

  test.each([
    ['text/plain', 'x', 400, 'its content type is not application/json'],
    ['application/x-www-form-urlencoded', 'a=1', 400, 'its content type is not application/json'],
    ['application/json', '{', 400, 'it does not parse'],
  ])('%s %s is refused', async (type, payload, status, reason) => {
    const reply = await app.inject({ method: 'POST', url: '/small/echo', headers: { 'content-type': type }, payload })
    expect(reply.statusCode).toBe(status)
    expect(reply.json().detail).toContain(reason)
  })

  test('an empty JSON body counts as none', async () => {
    const reply = await app.inject({ method: 'POST', url: '/small/echo', headers: json, payload: '' })
    expect(reply.json()).toEqual({ body: null })
  })
})

describe('every answer', () => {
  test.each(['/small/known', '/small/things/1', '/nowhere'])('%s carries an id and safe headers', async (url) => {
    const reply = await app.inject({
      url,
      headers: { 'x-openstack-request-id': 'req-forged', origin: 'https://evil.example' },
    })
    expect(reply.headers['x-openstack-request-id']).toMatch(/^req-[0-9a-f-]{36}$/)
    expect(reply.headers['x-content-type-options']).toBe('nosniff')
    expect(reply.headers['cache-control']).toBe('no-store')
    expect(reply.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('a bug shows its id and nothing else', async () => {
    const reply = await app.inject({ url: '/small/bug' })
    expect(reply.statusCode).toBe(500)
    expect(reply.body).not.toContain('canary')
    expect(reply.json()).toMatchObject({
      code: 'Internal',
      retry: 'backoff',
      instance: reply.headers['x-openstack-request-id'],
    })
  })

  test('is counted by route, not by path', async () => {
    await app.inject({ url: '/small/things/42?token=secret' })
    expect(answers).toMatchObject([{ method: 'GET', route: '/small/things/:id', status: 404 }])
  })
})

const connected = async (): Promise<Socket> => {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  const socket = connect(address.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

test('a request that never ends does not keep the server from closing', async () => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = await connected()
  const begun = once(app.server, 'request')
  socket.write('POST /small/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{')
  await begun
  const ended = once(socket, 'close')
  socket.resume()
  await app.close()
  await ended
  expect(app.server.listening).toBe(false)
  expect(answers).toEqual([])
})

describe('a client that sends without end and without pause', () => {
  const head = 'POST /slow/echo HTTP/1.1\r\nHost: x\r\n'
  test.each([
    ['its headers', `${head}X-Slow: `],
    ['its body', `${head}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"`],
  ])('is disconnected at the end of its time: %s', async (_, beginning) => {
    await app.close()
    app = createServer({ log: silentLogger(), closeGraceMs: 50, requestTimeoutMs: 200 })
    const plugin = async (scope: FastifyInstance) => {
      scope.post('/echo', async () => ({}))
    }
    mount(app, { prefix: '/slow', bodyLimitBytes: 1_000_000, plugin })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = await connected()
    const { isClosed } = received(socket)
    socket.write(beginning)
    const drips = () => {
      socket.write('a')
      return isClosed()
    }
    await waitFor(drips, { what: 'the end of the connection', timeoutMs: 10_000, everyMs: 20 })
  })
})

test('headers have a limit', async () => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = await connected()
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 431 /)
  socket.destroy()
})
