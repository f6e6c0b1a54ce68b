import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLogger, systemClock } from '@spout/runtime'
import { freePort } from '@spout/testkit/free-port'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { aheadOfHandlers } from '../http/ahead-of-handlers.ts'
import { CertificateAuthority } from '../link/certificate-authority.ts'
import { PeerCredentials } from './peer-credentials.ts'
import { PeerServer } from './peer-server.ts'
import { type Destination, ForeignAuthority, Relay } from './relay.ts'

// A follower's API in front of a leader's, over real connections. The leader's API says what it was asked.

const log = silentLogger()
let directory: string
let authority: CertificateAuthority
let foreign: CertificateAuthority
let credentials: PeerCredentials
let leader: PeerServer
let leaderUrl: string
let relay: Relay
let follower: Server
let followerPort: number
let destination: Destination
let leads: boolean
/** Requests of `/silent`, which the leader does not answer. */
let silences = 0
/** Answers to `/watch` that the leader has open. */
const watches: ServerResponse[] = []
const undo: (() => Promise<unknown> | unknown)[] = []

const credentialsOf = async (from: CertificateAuthority): Promise<PeerCredentials> => {
  const made = new PeerCredentials({ authority: from, host: '127.0.0.1', clock: systemClock, log })
  await made.start()
  undo.push(() => made.stop())
  return made
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/silent') return void silences++
  if (request.url === '/watch') {
    watches.push(response.writeHead(200, { 'content-type': 'application/x-ndjson' }))
    response.flushHeaders()
    return
  }
  let body = ''
  request.on('data', (bytes: Buffer) => {
    body += bytes.toString()
  })
  request.on('end', () => {
    const { method, url, headers, socket } = request
    response.end(JSON.stringify({ method, url, body, from: socket.remoteAddress, headers }))
  })
}

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-relay-'))
  undo.push(() => rmSync(directory, { recursive: true }))
  authority = await CertificateAuthority.open(path.join(directory, 'own'))
  foreign = await CertificateAuthority.open(path.join(directory, 'foreign'))
  credentials = await credentialsOf(authority)
  const port = await freePort()
  leaderUrl = `https://127.0.0.1:${port}`
  leader = new PeerServer({
    ...{ credentials: await credentialsOf(authority), serve: answer, leads: () => leads, log },
    listen: { host: '127.0.0.1', port },
  })
  await leader.start()
  undo.push(() => leader.stop())
  relay = new Relay({ credentials, destination: () => destination, clock: systemClock, log })
  undo.push(() => relay.close())
  follower = createHttpServer((_, response) => response.end('"here"'))
  aheadOfHandlers(follower, relay.take)
  follower.listen(0, '127.0.0.1')
  await once(follower, 'listening')
  followerPort = (follower.address() as AddressInfo).port
  undo.push(
    () => follower.closeAllConnections(),
    () => follower.close(),
  )
})
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})
beforeEach(() => {
  leads = true
  destination = { at: 'peer', url: leaderUrl }
})

const ask = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(`http://127.0.0.1:${followerPort}${url}`, init)
  const attempt = response.headers.get('spout-attempt')
  return { status: response.status, attempt, body: JSON.parse(await response.text()) }
}

/** Sends these bytes, and resolves with all that comes until the server closes. */
async function raw(text: string): Promise<string> {
  const socket = connect(followerPort, '127.0.0.1')
  let read = ''
  socket.on('data', (bytes: Buffer) => {
    read += bytes.toString()
  })
  socket.write(text)
  await once(socket, 'close')
  return read
}

test('a request is passed on as it came, with the address of its client; what a client says of its address is nothing', async () => {
  const { status, body } = await ask('/a//b/../c?d=%2F', {
    method: 'POST',
    body: 'text',
    headers: { 'spout-client': '198.51.100.7', 'x-auth-token': 't' },
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({ method: 'POST', body: 'text', from: '127.0.0.1' })
  expect(body.headers).toMatchObject({ 'x-auth-token': 't', host: `127.0.0.1:${followerPort}`, 'content-length': '4' })
  expect(body.headers).not.toHaveProperty('spout-client')
  const path = await raw('GET /a//b/../c?d=%2F HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
  expect(path).toContain('"url":"/a//b/../c?d=%2F"')
})

test('a body in chunks stays one body, whatever the method and whatever Connection says', async () => {
  const body = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n'
  const head =
    'DELETE /x HTTP/1.1\r\nHost: h\r\nConnection: close, transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n'
  const answered = await raw(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
  expect(answered.match(/HTTP\/1\.1 200/g)).toHaveLength(1)
  expect(answered).toContain('"method":"DELETE","url":"/x","body":"GET /smuggled')
})

test('a watch is passed on as it comes, and ends when another leads', async () => {
  const response = await fetch(`http://127.0.0.1:${followerPort}/watch`)
  const reader = response.body!.getReader()
  watches.at(-1)!.write('one\n')
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('one\n')
  destination = { at: 'peer', url: 'https://127.0.0.1:1' }
  relay.refresh()
  await expect(reader.read()).rejects.toThrow()
})

test('without a leader that answers, requests are refused and may be tried again; the own health is told', async () => {
  destination = { at: 'nowhere', reason: 'no control plane leads' }
  const refused = await ask('/x', { method: 'POST', body: 'b' })
  expect(refused).toMatchObject({
    status: 503,
    attempt: 'not-begun',
    body: { code: 'Unavailable', detail: 'The control plane is not available: no control plane leads' },
  })
  expect(await ask('/healthz')).toMatchObject({ status: 200, attempt: null, body: 'here' })
  expect(await ask('/healthz/leader')).toMatchObject({ status: 503 })

  destination = { at: 'peer', url: `https://127.0.0.1:${await freePort()}` }
  expect(await ask('/x', { method: 'POST', body: 'b'.repeat(1_000_000) })).toMatchObject({
    status: 503,
    attempt: 'not-begun',
  })
  expect(relay.trouble).toContain('ECONNREFUSED')

  destination = { at: 'peer', url: leaderUrl }
  leads = false
  expect(await ask('/x')).toMatchObject({
    status: 503,
    attempt: 'not-begun',
    body: { detail: expect.stringContaining('leads no longer') },
  })
  leads = true
  expect(await ask('/x')).toMatchObject({ status: 200 })
  expect(relay.trouble).toBeNull()
})

test('a leader that could not be reached is asked again, also when no client asks', async () => {
  const port = await freePort()
  destination = { at: 'peer', url: `https://127.0.0.1:${port}` }
  expect(await ask('/x')).toMatchObject({ status: 503 })
  expect(relay.trouble).not.toBeNull()
  const back = new PeerServer({
    ...{ credentials: await credentialsOf(authority), serve: answer, leads: () => true, log },
    listen: { host: '127.0.0.1', port },
  })
  await back.start()
  undo.push(() => back.stop())
  await expect.poll(() => relay.trouble).toBeNull()
})

test('when the leader goes away in the middle, the client is told that nobody knows', async () => {
  const unanswered = ask('/silent', { method: 'POST', body: 'b' })
  await expect.poll(() => silences).toBe(1)
  relay.close()
  expect(await unanswered).toMatchObject({
    status: 502,
    attempt: null,
    body: { status: 502, title: 'Bad Gateway', detail: expect.stringContaining('may have carried it out') },
  })
})

test('who leads answers itself', async () => {
  destination = { at: 'here' }
  expect(await ask('/x')).toMatchObject({ status: 200, body: 'here' })
})

/** What becomes of a request at the leader's peer server by somebody who shows this certificate. */
const asPeer = (shown: { readonly certificate?: string; readonly key?: string }): Promise<number | string> =>
  new Promise((resolve) => {
    const { certificate, key } = shown
    const identity = certificate !== undefined && key !== undefined ? { cert: certificate, key } : {}
    httpsRequest(
      `${leaderUrl}/x`,
      { ...identity, ca: authority.certificate, agent: false, headers: { 'spout-client': 'local' } },
      (response) => resolve(response.resume().statusCode ?? 0),
    )
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end()
  })

/** What a node of the installation has. */
async function nodeOf(from: CertificateAuthority): Promise<{ readonly certificate: string; readonly key: string }> {
  const made = execFileSync(
    'openssl',
    ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-', '-subj', '/CN=x'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString()
  const at = made.indexOf('-----BEGIN CERTIFICATE REQUEST-----')
  const { certificate } = await from.issueNode(made.slice(at), randomUUID())
  return { certificate, key: made.slice(0, at) }
}

test('nobody but a control plane of the installation is heard: no node, no stranger, nobody of another installation', async () => {
  expect(await asPeer(credentials.current)).toBe(200)
  const outsiders = [
    {},
    await authority.issueServer(['127.0.0.1']),
    await nodeOf(authority),
    await foreign.issueControlPlane('127.0.0.1'),
  ]
  for (const outsider of outsiders) expect(await asPeer(outsider)).not.toBe(200)
})

test('a leader of another installation is noticed', async () => {
  const stranger = new Relay({
    credentials: await credentialsOf(foreign),
    destination: () => destination,
    clock: systemClock,
    log,
  })
  undo.push(() => stranger.close())
  await expect(stranger.probe()).rejects.toThrow(ForeignAuthority)
  await relay.probe()
})
