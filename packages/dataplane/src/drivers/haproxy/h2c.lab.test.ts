import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { issueCertificate } from '@spout/testkit'
import { describe, expect, it } from 'vitest'
import { type LabMember, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt as at, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'

const { lab, host, started } = await proxyLabOfFile()
const member = await started(h2cMember('m'))

/**
 * A member that speaks HTTP/2 without TLS alone. It sends each piece of a request back as it comes, and says the HTTP
 * version in a header and `grpc-status` in a trailer.
 */
async function h2cMember(name: string): Promise<LabMember> {
  let [count, connections] = [0, 0]
  const server = http2.createServer()
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('connection', () => connections++)
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
    count++
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'x-path': headers[':path'], 'x-te': headers['te'] }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '7' }))
    stream.pipe(stream)
  })
  server.listen(0, MEMBER_ADDRESS)
  await once(server, 'listening')
  return {
    name,
    port: (server.address() as AddressInfo).port,
    count: () => count,
    connections: () => connections,
    close: () => {
      server.close()
      for (const session of sessions) session.destroy()
    },
  }
}

/** Sends two pieces over HTTP/2, the second once the first has come back. */
async function call(url: string, options: http2.SecureClientSessionOptions = {}) {
  const session = http2.connect(url, options)
  try {
    const stream = session.request({ ':method': 'POST', ':path': '/shop.Cart/Add', te: 'trailers' })
    const [headers] = (await Promise.all([once(stream, 'response'), stream.write('one')]))[0] as [
      http2.IncomingHttpHeaders,
    ]
    const [first] = (await once(stream, 'data')) as [Buffer]
    const trailers = once(stream, 'trailers')
    stream.end('two')
    const [second] = (await once(stream, 'data')) as [Buffer]
    const [last] = (await trailers) as [http2.IncomingHttpHeaders]
    return { headers, pieces: [String(first), String(second)], status: last['grpc-status'] }
  } finally {
    session.destroy()
  }
}

const answered = {
  headers: { ':status': 200, 'x-path': '/shop.Cart/Add', 'x-te': 'trailers' },
  pieces: ['one', 'two'],
  status: '7',
}

describe('a pool whose members are spoken to in HTTP/2 without TLS', () => {
  it('carries streams in both directions with trailers, from clients that know beforehand; without a reload', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([]))
    await put(driver, webEntry([at(member)], { http2: true }))
    expect(await call(`http://${host}:${portOf(driver, 'web-80')}`)).toMatchObject(answered)
    expect(driver.counters.reloads).toBe(0)
  })

  it('is behind a listener that ends TLS, for clients that negotiate HTTP/2', async () => {
    const driver = lab.driver()
    const { certificate, key } = issueCertificate({ names: ['grpc.example'] })
    const stored = lab.storeCertificate(certificate + key)
    const service = sampleService('web-443', {
      ...{ protocol: 'https', port: 443 },
      tls: { certificates: [stored], unknownNames: 'default', minVersion: '1.2', alpn: ['h2', 'http/1.1'] },
    })
    await put(driver, sampleEntry('web', [service], [samplePool(1, { members: [at(member)], http2: true })]))
    const url = `https://${host}:${portOf(driver, 'web-443')}`
    expect(await call(url, { rejectUnauthorized: false, servername: 'grpc.example' })).toMatchObject(answered)
  })

  it('is a target of routes with a limit of the whole request, and takes HTTP/1.1 of clients', async () => {
    const driver = lab.driver()
    const timeouts = { requestMs: 20_000, backendRequestMs: null }
    const routes = [sampleRoute(1, { type: 'forward', pools: [{ pool: 1, weight: 1 }], timeouts })]
    await put(driver, webEntry([at(member)], { http2: true }, { routes }))
    const url = `http://${host}:${portOf(driver, 'web-80')}`
    expect(await call(url)).toMatchObject(answered)
    const response = await fetch(`${url}/plain`, { method: 'POST', body: 'text' })
    expect([response.status, response.headers.get('x-path'), await response.text()]).toEqual([200, '/plain', 'text'])
  })

  it('turns from HTTP/1.1, which such a member does not take, without a reload', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(member)]))
    const url = `http://${host}:${portOf(driver, 'web-80')}`
    expect((await fetch(url)).status).toBeGreaterThanOrEqual(400)
    await put(driver, webEntry([at(member)], { http2: true }))
    expect(await call(url)).toMatchObject(answered)
    expect(driver.counters.reloads).toBe(0)
  })
})
