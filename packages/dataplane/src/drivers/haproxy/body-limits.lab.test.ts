import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NodeForward, NodeRoute, RouteCondition } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleRoute } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)

/** Answers with the length of the body, once it has all of it; `/at-once` before. */
async function countingMember() {
  let whole: number[] = []
  let broken = 0
  const server = http.createServer((request, response) => {
    let length = 0
    request.on('data', (part: Buffer) => {
      length += part.length
    })
    request.on('end', () => {
      whole.push(length)
      response.end(`${length} ${request.headers['x-forwarded-for'] ?? ''}`)
    })
    request.on('error', () => broken++)
    if (request.url === '/at-once') response.writeHead(401).end('no')
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const forget = () => {
    whole = []
    broken = 0
  }
  /** The lengths of the bodies that came as a whole. */
  return {
    ...{ port: (server.address() as net.AddressInfo).port, close, forget },
    whole: () => whole,
    broken: () => broken,
  }
}

const member = await started(countingMember())
const LIMIT = 100_000
const file = (bytes: number) => join(tmpdir(), `spout-body-${process.pid}-${bytes}`)
const SIZES = [0, 10, LIMIT, LIMIT + 1, 6_000_000, 40_000_000]
await Promise.all(SIZES.map((bytes) => writeFile(file(bytes), Buffer.alloc(bytes))))
afterAll(() => Promise.all(SIZES.map((bytes) => rm(file(bytes)))))
beforeEach(() => member.forget())

const onHost = (name: string): RouteCondition => ({ on: 'host', compare: 'exact', values: [name], not: false })
const limited = (number: number, host: string, own: Partial<NodeForward>): NodeRoute =>
  sampleRoute(number, { type: 'forward', pools: [{ pool: 1, weight: 1 }], ...own }, [onHost(host)])
const putRoutes = (driver: HaproxyDriver, ...routes: readonly NodeRoute[]) =>
  put(
    driver,
    webEntry([memberAt({ name: 'counting', port: member.port })], {}, { routes, insertHeaders: ['x-forwarded-for'] }),
  )

const upload = async (driver: HaproxyDriver, host: string, bytes: number, ...options: readonly string[]) => {
  const url = `http://${proxy}:${portOf(driver, 'web-80')}/`
  const told = [
    '-s',
    '-m',
    '20',
    '-w',
    ' %{http_code}',
    '-H',
    `Host: ${host}`,
    '-H',
    'Expect:',
    '-X',
    'POST',
    ...options,
  ]
  const { stdout } = await run('curl', [...told, '--data-binary', `@${file(bytes)}`, url]).catch((error) => error)
  return Number(String(stdout).slice(-3))
}

const CHUNKED = ['-H', 'Transfer-Encoding: chunked']
const HTTP2 = ['--http2-prior-knowledge']
/** curl sends no length of a body that it is to send in chunks. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  'a told length': [],
  chunked: CHUNKED,
  'a told length over HTTP/2': HTTP2,
  'HTTP/2 without a length': [...HTTP2, ...CHUNKED, '-H', 'Content-Length:'],
}

test.each(Object.keys(WAYS))('a body beyond the limit is refused with 413, and no other: %s', async (way) => {
  const driver = lab.driver()
  await putRoutes(driver, limited(1, 'limited', { maxBodyBytes: LIMIT }), limited(2, 'open', {}))
  const options = WAYS[way]!
  for (const [bytes, status] of [
    [0, 200],
    [10, 200],
    [LIMIT, 200],
    [LIMIT + 1, 413],
    [6_000_000, 413],
  ] as const)
    expect([bytes, await upload(driver, 'limited', bytes, ...options)]).toEqual([bytes, status])
  expect(member.whole()).toEqual([0, 10, LIMIT])
  expect(await upload(driver, 'open', LIMIT + 1, ...options)).toBe(200)
  expect(driver.counters.reloads).toBe(0)
})

test('what a client sends after it was refused is thrown away up to a bound, and then its connection is cut', async () => {
  const driver = lab.driver()
  await putRoutes(driver, limited(1, 'limited', { maxBodyBytes: LIMIT }))
  expect(await upload(driver, 'limited', 40_000_000)).toBe(413)
  expect([0, 413]).toContain(await upload(driver, 'limited', 40_000_000, ...CHUNKED))
  expect(member.whole()).toEqual([])
  await waitFor(async () => member.broken() > 0, { what: 'the end of the member’s request' })
  expect(await upload(driver, 'limited', 10, ...CHUNKED)).toBe(200)
})

test('a limit of nothing takes requests without a body, and 64 bits are compared', async () => {
  const driver = lab.driver()
  await putRoutes(driver, limited(1, 'none', { maxBodyBytes: 0 }), limited(2, 'large', { maxBodyBytes: 2 ** 33 }))
  for (const options of [[], CHUNKED, HTTP2]) {
    expect(await upload(driver, 'none', 0, ...options)).toBe(200)
    expect(await upload(driver, 'none', 10, ...options)).toBe(413)
  }
  const url = `http://${proxy}:${portOf(driver, 'web-80')}/`
  for (const [host, length] of [
    ['none', 2 ** 32],
    ['large', 2 ** 33 + 1],
    ['large', '99999999999999999999'],
  ] as const) {
    const told = ['-s', '-m', '5', '-o', '/dev/null', '-w', '%{http_code}', '-H', `Host: ${host}`]
    const { stdout } = await run('curl', [...told, '-X', 'POST', '-H', `Content-Length: ${length}`, url]).catch(
      (e) => e,
    )
    expect([host, length, ['400', '413'].includes(stdout)]).toEqual([host, length, true])
  }
})

test('the limit counts beside time-outs, retries and rates, and changes without a reload', async () => {
  const driver = lab.driver()
  const beside: Partial<NodeForward> = {
    timeouts: { requestMs: 10_000, backendRequestMs: null },
    retry: { attempts: 2, codes: [503, 502], backoffMs: 0 },
    clientRate: { requests: 1000, perSeconds: 1, burst: 1000 },
  }
  await putRoutes(driver, limited(1, 'limited', { ...beside, maxBodyBytes: LIMIT }))
  for (const options of [CHUNKED, [...CHUNKED, '-X', 'PUT']]) {
    expect(await upload(driver, 'limited', LIMIT, ...options)).toBe(200)
    expect(await upload(driver, 'limited', LIMIT + 1, ...options)).toBe(413)
  }
  await putRoutes(driver, limited(1, 'limited', { ...beside, maxBodyBytes: LIMIT + 1 }))
  expect(await upload(driver, 'limited', LIMIT + 1, ...CHUNKED)).toBe(200)
  await putRoutes(driver, limited(1, 'limited', beside))
  expect(await upload(driver, 'limited', 6_000_000, ...CHUNKED)).toBe(200)
  expect(driver.counters.reloads).toBe(0)
})

test('a counted request shows the member the client, and an answer before the end of the body stays', async () => {
  const driver = lab.driver()
  await putRoutes(driver, limited(1, 'limited', { maxBodyBytes: LIMIT }))
  const answer = async (path: string, bytes: number): Promise<string> => {
    const url = `http://${proxy}:${portOf(driver, 'web-80')}${path}`
    const told = ['-s', '-m', '10', '-w', ' %{http_code}', '-H', 'Host: limited', '-H', 'Expect:', '-X', 'POST']
    return (await run('curl', [...told, ...CHUNKED, '--data-binary', `@${file(bytes)}`, url])).stdout
  }
  const local = await lab.source(3)
  expect(await answer('/', 10)).toMatch(/^10 \S+ 200$/)
  const url = `http://${proxy}:${portOf(driver, 'web-80')}/`
  const told = ['-s', '--interface', local, '-H', 'Host: limited', ...CHUNKED, '--data-binary', '@-', url]
  const asked = run('curl', told)
  asked.child.stdin?.end('0123456789')
  expect((await asked).stdout).toBe(`10 ${local}`)
  expect(await answer('/at-once', 10)).toBe('no 401')
})
