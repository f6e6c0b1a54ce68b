import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NodeForward, NodeRoute, RouteCondition } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleRoute } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
/** Longer than what HAProxy and the kernel hold, so that the client still sends when it is answered. */
const UPLOAD = join(tmpdir(), `spout-upload-${process.pid}`)

/** A member that answers all requests but uploads. */
async function patientMember() {
  let uploads = 0
  const server = http.createServer((request, response) => {
    if (request.method === 'POST') uploads++
    else response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const { port } = server.address() as net.AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { port, uploads: () => uploads, close }
}
const patient = await started(patientMember())
const member = { name: 'patient', port: patient.port }

beforeAll(() => writeFile(UPLOAD, Buffer.alloc(1_500_000)))
afterAll(() => rm(UPLOAD))

const onHost = (name: string): RouteCondition => ({ on: 'host', compare: 'exact', values: [name], not: false })
const forward = (number: number, host: string, own: Partial<NodeForward>): NodeRoute =>
  sampleRoute(number, { type: 'forward', pools: [{ pool: 1, weight: 1 }], ...own }, [onHost(host)])

const MOVED: NodeRoute['action'] = {
  ...({ type: 'redirect', code: 307, scheme: null, host: 'other.example', port: null } as const),
  ...{ path: null, pathPrefix: null },
}
const ROUTES: readonly NodeRoute[] = [
  forward(1, 'rated', { clientRate: { requests: 1, perSeconds: 3600, burst: 0 } }),
  forward(2, 'counted', { clientConcurrency: 1 }),
  sampleRoute(3, { type: 'respond', code: 403 }, [onHost('rejected')]),
  sampleRoute(4, MOVED, [onHost('moved')]),
]

const WAYS: Readonly<Record<string, readonly string[]>> = {
  'HTTP/1.1': [],
  'HTTP/1.1, chunked': ['-H', 'Transfer-Encoding: chunked'],
  'HTTP/2': ['--http2-prior-knowledge'],
  'HTTP/2, no length': ['--http2-prior-knowledge', '-H', 'Transfer-Encoding: chunked', '-H', 'Content-Length:'],
}

/** The answer as curl got it, and curl's exit status. */
async function upload(driver: HaproxyDriver, host: string, options: readonly string[]): Promise<string> {
  const url = `http://${proxy}:${portOf(driver, 'web-80')}/`
  // Slow enough that the answer is there long before the body's end.
  const told = [
    '-s',
    '-m',
    '20',
    '--limit-rate',
    '1500k',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code} %header{retry-after}%header{location}',
  ]
  const more = ['-H', `Host: ${host}`, '-H', 'Expect:', '-X', 'POST', ...options, '--data-binary', `@${UPLOAD}`]
  return run('curl', [...told, ...more, url]).then(
    ({ stdout }) => stdout,
    (error: { code: number; stdout: string }) => `${error.stdout} (curl ${error.code})`,
  )
}

const get = (driver: HaproxyDriver, host: string) =>
  run('curl', ['-s', '-H', `Host: ${host}`, `http://${proxy}:${portOf(driver, 'web-80')}/`])

describe.each(Object.entries(WAYS))('a client that uploads is told why it is refused: %s', (_, options) => {
  test('by a rate', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([memberAt(member)], {}, { routes: ROUTES }))
    await get(driver, 'rated')
    expect(await upload(driver, 'rated', options)).toMatch(/^429 \d+$/)
  })

  test('by a limit of requests at once', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([memberAt(member)], {}, { routes: ROUTES }))
    const to = { host: proxy, port: portOf(driver, 'web-80'), path: '/', headers: { host: 'counted' }, agent: false }
    const held = http.request({ ...to, method: 'POST' })
    held.on('error', () => {})
    const before = patient.uploads()
    held.write('x')
    await waitFor(async () => patient.uploads() > before, { what: 'a request under way' })
    expect(await upload(driver, 'counted', options)).toBe('503 ')
    held.destroy()
  })

  test('by an answer of a route, and by a redirect', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([memberAt(member)], {}, { routes: ROUTES }))
    expect(await upload(driver, 'rejected', options)).toBe('403 ')
    expect(await upload(driver, 'moved', options)).toBe('307 http://other.example/')
  })
})
