import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StatusServer, type StatusServerOptions } from './status-server.ts'

const metrics = { contentType: 'text/plain; version=0.0.4', text: async () => 'one 1\n' }

async function serve(options: Partial<StatusServerOptions> = {}) {
  const server = new StatusServer({ name: 'http', host: '127.0.0.1', port: 0, tokenFile: '', metrics, ...options })
  await server.start()
  onTestFinished(() => server.stop())
  const ask = async (path: string, method = 'GET', token = '') => {
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers })
    return [answer.status, answer.headers.get('content-type'), await answer.text()]
  }
  return { server, ask }
}

test('answers health, readiness with reasons, and metrics', async () => {
  let why: string | null = 'the store has not been read yet'
  const { ask } = await serve({ readiness: () => why })
  expect(await ask('/healthz')).toEqual([200, 'text/plain', 'ok\n'])
  expect(await ask('/readyz')).toEqual([503, 'text/plain', 'the store has not been read yet\n'])
  why = null
  expect(await ask('/readyz')).toEqual([200, 'text/plain', 'ok\n'])
  expect(await ask('/metrics')).toEqual([200, metrics.contentType, 'one 1\n'])
  for (const [path, method] of [['/'], ['/metrics/'], ['/metrics', 'POST'], ['/healthz', 'DELETE']] as const)
    expect((await ask(path, method))[0]).toBe(404)
})

test('a ready process says what it is to those who may read reasons', async () => {
  const file = tokenFile()
  writeFileSync(file, TOKEN)
  const open = await serve({ readiness: () => null, role: () => 'leads' })
  expect(await open.ask('/readyz')).toEqual([200, 'text/plain', 'ok: leads\n'])
  const guarded = await serve({ readiness: () => null, role: () => 'leads', tokenFile: file })
  expect(await guarded.ask('/readyz')).toEqual([200, 'text/plain', 'ok\n'])
  expect(await guarded.ask('/readyz', 'GET', TOKEN)).toEqual([200, 'text/plain', 'ok: leads\n'])
  expect(await (await serve({ readiness: () => null, role: () => '' })).ask('/readyz')).toEqual([
    200,
    'text/plain',
    'ok\n',
  ])
})

test('without a readiness check only metrics are served', async () => {
  const { ask } = await serve()
  expect((await ask('/metrics'))[0]).toBe(200)
  for (const path of ['/healthz', '/readyz', '/']) expect((await ask(path))[0]).toBe(404)
})

test('a check that throws fails its own answer only', async () => {
  let isBroken = true
  const text = async () => {
    if (isBroken) throw new Error('no figures')
    return 'one 1\n'
  }
  const readiness = () => {
    throw new Error('nobody knows')
  }
  const { ask } = await serve({ metrics: { ...metrics, text }, readiness })
  expect((await ask('/metrics'))[0]).toBe(500)
  expect((await ask('/readyz'))[0]).toBe(500)
  isBroken = false
  expect((await ask('/metrics'))[0]).toBe(200)
})

test('an address in use is an error at the start', async () => {
  const { server } = await serve()
  await expect(serve({ port: server.port })).rejects.toThrow('EADDRINUSE')
})

const TOKEN = 'f1e2d3c4b5a69788'

function tokenFile(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-status-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return path.join(directory, 'token')
}

test('with a token file, metrics and reasons need the token; a probe does not', async () => {
  const file = tokenFile()
  let why: string | null = 'not in sync: node1'
  const { ask } = await serve({ tokenFile: file, readiness: () => why })
  writeFileSync(file, `${TOKEN}\n`)
  expect(await ask('/metrics')).toEqual([401, 'text/plain', expect.stringMatching(/^a token is needed/)])
  for (const wrong of ['f1e2d3c4b5a69789', 'f1e2', `${TOKEN}0`])
    expect((await ask('/metrics', 'GET', wrong))[0]).toBe(401)
  expect(await ask('/metrics', 'GET', TOKEN)).toEqual([200, metrics.contentType, 'one 1\n'])
  expect(await ask('/healthz')).toEqual([200, 'text/plain', 'ok\n'])
  expect(await ask('/readyz')).toEqual([503, 'text/plain', 'not ready\n'])
  expect(await ask('/readyz', 'GET', 'another-token-that-is-long')).toEqual([503, 'text/plain', 'not ready\n'])
  expect(await ask('/readyz', 'GET', TOKEN)).toEqual([503, 'text/plain', 'not in sync: node1\n'])
  why = null
  expect(await ask('/readyz')).toEqual([200, 'text/plain', 'ok\n'])
})

test('a missing or short token file admits nobody; a new or changed one counts at once', async () => {
  const file = tokenFile()
  const { ask } = await serve({ tokenFile: file })
  expect((await ask('/metrics', 'GET', TOKEN))[0]).toBe(503)
  for (const short of ['', '\n', 'short'])
    for (const given of ['x', 'short']) {
      writeFileSync(file, short)
      expect((await ask('/metrics', 'GET', given))[0]).toBe(503)
    }
  writeFileSync(file, TOKEN)
  expect((await ask('/metrics', 'GET', TOKEN))[0]).toBe(200)
  writeFileSync(file, 'the-next-token-of-it')
  expect((await ask('/metrics', 'GET', TOKEN))[0]).toBe(401)
})

/** Connects and sends this; resolves with the socket, `closed` once the server ended it. */
async function open(port: number, text: string) {
  const socket: Socket = connect(port, '127.0.0.1')
  const state = { socket, isClosed: false }
  onTestFinished(() => void socket.destroy())
  socket
    .on('error', () => {})
    .on('close', () => {
      state.isClosed = true
    })
  socket.resume()
  await new Promise<void>((resolve) => socket.once('connect', () => socket.write(text, () => resolve())))
  return state
}

test.each(['GET /metr', ''])('a client that does not finish its request is disconnected (%j)', async (text) => {
  const { server, ask } = await serve({ clientTimeoutMs: 100 })
  const slow = await open(server.port, text)
  await vi.waitFor(() => expect(slow.isClosed).toBe(true), { timeout: 10_000 })
  expect((await ask('/metrics'))[0]).toBe(200)
})

test('connections per address are limited, and a closed one makes room', async () => {
  const { server, ask } = await serve({ clientTimeoutMs: 60_000 })
  const states = await Promise.all(Array.from({ length: 40 }, () => open(server.port, 'GET /')))
  await vi.waitFor(() => expect(states.filter(({ isClosed }) => isClosed)).toHaveLength(24), { timeout: 10_000 })
  for (const { socket } of states) socket.destroy()
  await vi.waitFor(async () => expect((await ask('/metrics'))[0]).toBe(200), { timeout: 10_000 })
})
