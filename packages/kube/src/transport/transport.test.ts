import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { Secret, type Timer } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClusterAccess } from '../access/cluster-access.ts'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { KubeError, KubeUnreachable } from './errors.ts'
import { type KubeRequest, Transport, type TransportOptions } from './transport.ts'

/** Counts the timers that were set. */
class ArmedClock extends FakeClock {
  armed = 0
  override setTimer(callback: () => void, delayMs: number): Timer {
    this.armed++
    return super.setTimer(callback, delayMs)
  }
}

let server: FakeApiServer
let transport: Transport
const answers: ((response: ServerResponse) => void)[] = []

const use = (options: Partial<TransportOptions> = {}) => {
  transport?.close()
  transport = new Transport({ access: server.access, firstRetryMs: 1, maxRetryMs: 5, deadlineMs: 2000, ...options })
}
const GET: KubeRequest = { method: 'GET', path: '/api/v1/namespaces/kube-system' }
const status = (code: number, reason: string, extra: object = {}, headers: Record<string, string> = {}) => {
  answers.push((response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ kind: 'Status', code, reason, message: 'because', ...extra }))
  })
}
const json = (text: string) => answers.push((response) => response.writeHead(200).end(text))

async function scripted(): Promise<void> {
  answers.length = 0
  server = await FakeApiServer.start()
  server.faults.push((_request, response) => {
    const answer = answers.shift()
    answer?.(response)
    return answer !== undefined
  })
  use()
}
afterEach(async () => {
  transport.close()
  await server.stop()
})

describe('an answer', () => {
  beforeEach(scripted)

  it('that is a refusal names the fields and why', async () => {
    const causes = [{ field: 'spec.ports[0].port', reason: 'FieldValueInvalid', message: 'must be below 65536' }]
    status(422, 'Invalid', { details: { causes } })
    const error = await transport.request(GET).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KubeError)
    expect(error).toMatchObject({ status: 422, reason: 'Invalid', causes })
    expect((error as Error).message).toBe('GET /api/v1/namespaces/kube-system: 422 Invalid: because')
  })

  it('that the caller skips may be anything but a refusal', async () => {
    json('not JSON')
    expect(await transport.request({ ...GET, read: false })).toBeNull()
    status(409, 'Conflict')
    await expect(transport.request({ ...GET, read: false })).rejects.toMatchObject({ status: 409, reason: 'Conflict' })
    expect(transport.counters.attempts).toBe(2)
  })

  it('that is not a Status is an error all the same', async () => {
    answers.push((response) => response.writeHead(404).end('<html>'))
    await expect(transport.request(GET)).rejects.toMatchObject({ status: 404, reason: '', causes: [] })
  })

  it('that exceeds the limit is given up', async () => {
    json(JSON.stringify('x'.repeat(5000)))
    await expect(transport.request({ ...GET, maxBodyBytes: 1000 })).rejects.toMatchObject({ reason: 'too-large' })
  })

  it('that is not JSON is requested again', async () => {
    json('{"half":')
    json('{"whole":1}')
    expect(await transport.request(GET)).toEqual({ whole: 1 })
  })

  it('that breaks off is requested again', async () => {
    answers.push((response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{"half":')
      setImmediate(() => response.destroy())
    })
    json('{"whole":1}')
    expect(await transport.request(GET)).toEqual({ whole: 1 })
    expect(transport.counters).toMatchObject({ attempts: 2, retries: 1 })
  })

  it('that never comes is a deadline', async () => {
    // A timer may be a moment early, and then there is time for one more attempt.
    for (let attempt = 0; attempt < 5; attempt++) answers.push(() => {})
    use({ deadlineMs: 60 })
    await expect(transport.request(GET)).rejects.toMatchObject({ name: 'KubeUnreachable', reason: 'deadline' })
  })

  it('that stops in the middle is a deadline too', async () => {
    answers.push((response) => response.writeHead(200).write('{'))
    await expect(transport.request({ ...GET, deadlineMs: 60 })).rejects.toMatchObject({ reason: 'deadline' })
  })

  it('is not waited for when the caller gives up', async () => {
    const caller = new AbortController()
    answers.push(() => caller.abort())
    await expect(transport.request({ ...GET, signal: caller.signal })).rejects.toMatchObject({ reason: 'aborted' })
    await expect(transport.request({ ...GET, signal: caller.signal })).rejects.toMatchObject({ reason: 'aborted' })
  })
})

describe('a request is repeated', () => {
  beforeEach(scripted)

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'] as const)('%s: after a 5xx and a broken connection', async (method) => {
    status(500, 'InternalError')
    answers.push((response) => response.destroy())
    json('{}')
    await transport.request({ ...GET, method })
    expect(transport.counters.attempts).toBe(3)
  })

  it('but not a POST: it may have been executed', async () => {
    status(500, 'InternalError')
    await expect(transport.request({ ...GET, method: 'POST', body: {} })).rejects.toMatchObject({ status: 500 })
    expect(transport.counters.attempts).toBe(1)
  })

  it('even a POST after a 429: nothing was executed', async () => {
    status(429, 'TooManyRequests', {}, { 'retry-after': '0' })
    json('{}')
    await transport.request({ ...GET, method: 'POST', body: {} })
    expect(transport.counters).toEqual({ attempts: 2, retries: 1, throttled: 1 })
  })

  it('but not when the server asks for more time than is left', async () => {
    status(429, 'TooManyRequests', {}, { 'retry-after': '60' })
    await expect(transport.request(GET)).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 })
    expect(transport.counters.attempts).toBe(1)
  })

  it('but not after a refusal, nor when the caller allows one attempt', async () => {
    status(403, 'Forbidden')
    await expect(transport.request(GET)).rejects.toMatchObject({ status: 403 })
    status(500, 'InternalError')
    await expect(transport.request({ ...GET, retry: false })).rejects.toMatchObject({ status: 500 })
    expect(transport.counters.attempts).toBe(2)
  })

  it('once with a new token after a 401', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'kube-token-'))
    const file = path.join(directory, 'token')
    await writeFile(file, 'old')
    use({ access: { ...server.access, token: { type: 'file', path: file } } })
    answers.push((response) => {
      void writeFile(file, 'new').then(() => response.writeHead(401).end())
    })
    await transport.request(GET)
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
    status(401, 'Unauthorized')
    status(401, 'Unauthorized')
    await expect(transport.request(GET)).rejects.toMatchObject({ status: 401 })
    await rm(directory, { recursive: true })
  })
})

describe('lines', () => {
  beforeEach(scripted)

  it('come as they arrive, without a cut in the middle', async () => {
    answers.push((response) => {
      const whole = Buffer.from('{"a":1}\n{"ä":2}\n\n{"half')
      const inTheMiddle = whole.indexOf('ä') + 1
      response.writeHead(200)
      response.write(whole.subarray(0, inTheMiddle))
      setImmediate(() => response.end(whole.subarray(inTheMiddle)))
    })
    const lines: string[] = []
    let bytes = 0
    const stream = transport.lines({
      path: '/x',
      signal: new AbortController().signal,
      silenceMs: 1000,
      onBytes: (count) => {
        bytes += count
      },
    })
    for await (const group of stream) lines.push(...group)
    expect(lines).toEqual(['{"a":1}', '{"ä":2}'])
    expect(bytes).toBe(24)
  })

  it.each([
    ['no head', () => {}],
    ['no byte more', (response: ServerResponse) => response.writeHead(200).write('{}\n')],
  ])('end as silent: %s', async (_what, answer) => {
    answers.push(answer)
    const read = async () => {
      for await (const _ of transport.lines({ path: '/x', signal: new AbortController().signal, silenceMs: 50 }));
    }
    await expect(read()).rejects.toMatchObject({ reason: 'silent' })
  })

  it('may be silent after the head for as long as the reader allows, which may exceed an attempt', async () => {
    const clock = new ArmedClock()
    use({ clock, attemptMs: 30_000 })
    answers.push((response) => response.writeHead(200).flushHeaders())
    const first = transport.lines({ path: '/x', signal: new AbortController().signal, silenceMs: 330_000 }).next()
    const ended = first.then(
      () => 'a line',
      (error: unknown) => (error as KubeUnreachable).reason,
    )
    await waitFor(() => clock.armed === 2, { what: 'the head' })
    await clock.advance(329_000)
    expect(await Promise.race([ended, Promise.resolve('open')])).toBe('open')
    await clock.advance(1000)
    expect(await ended).toBe('silent')
  })

  it('are refused with a Status', async () => {
    status(410, 'Expired')
    const stream = transport.lines({ path: '/x', signal: new AbortController().signal, silenceMs: 5000 })
    await expect(stream.next()).rejects.toMatchObject({ status: 410, reason: 'Expired' })
  })

  it('release the connection when the reader stops', async () => {
    const closed = new Promise<'finished' | 'cut'>((resolve) => {
      answers.push((response) => {
        response.on('close', () => resolve(response.writableFinished ? 'finished' : 'cut'))
        response.writeHead(200).write('{}\n')
      })
    })
    const signal = new AbortController().signal
    for await (const _ of transport.lines({ path: '/x', signal, silenceMs: 5000 })) break
    expect(await closed).toBe('cut')
  })
})

describe('TLS', () => {
  let directory: string
  const read = (name: string) => readFile(path.join(directory, name), 'utf8')
  const openssl = (...argv: string[]) => promisify(execFile)('openssl', argv, { cwd: directory })
  let access: ClusterAccess

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'kube-tls-'))
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'basicConstraints=critical,CA:FALSE']
    await openssl('req', '-x509', ...key, '-subj', '/CN=ca', '-keyout', 'ca.key', '-out', 'ca.crt')
    const names = ['-addext', 'subjectAltName=DNS:api.test']
    await openssl('req', '-x509', ...key, ...signed, ...names, '-subj', '/CN=s', '-keyout', 's.key', '-out', 's.crt')
    await openssl('req', '-x509', ...key, ...signed, '-subj', '/CN=someone', '-keyout', 'c.key', '-out', 'c.crt')
  })
  afterAll(() => rm(directory, { recursive: true }))
  beforeEach(async () => {
    const ca = await read('ca.crt')
    server = await FakeApiServer.start({ ca, cert: await read('s.crt'), key: await read('s.key'), requestCert: true })
    access = {
      ...server.access,
      server: new URL(`https://127.0.0.1:${server.port}/below/`),
      ca,
      tlsServerName: 'api.test',
    }
  })

  it('checks the server by its CA and name, and presents our certificate', async () => {
    let peer = ''
    server.faults.push(({ path }, response) => {
      peer = String((response.socket as TLSSocket).getPeerCertificate().subject?.CN)
      response.writeHead(200).end(JSON.stringify({ path }))
      return true
    })
    const clientCertificate = { certificate: await read('c.crt'), key: new Secret(await read('c.key')) }
    use({ access: { ...access, clientCertificate } })
    // The API may lie below a path.
    expect(await transport.request(GET)).toEqual({ path: '/below/api/v1/namespaces/kube-system' })
    expect(peer).toBe('someone')
  })

  it.each([
    ['another CA', { ca: null }],
    ['another name', { tlsServerName: 'other.test' }],
  ])('sends nothing with %s', async (_what, change) => {
    use({ access: { ...access, ...change }, deadlineMs: 200 })
    const error = await transport.request(GET).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KubeUnreachable)
    expect(server.requests).toEqual([])
  })
})
