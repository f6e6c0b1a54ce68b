import { execFile } from 'node:child_process'
import http from 'node:http'
import type net from 'node:net'
import { promisify } from 'node:util'
import {
  type NodeForward,
  type NodeRoute,
  type RouteCondition,
  routeRetry,
  routeTimeouts,
  type Service,
} from '@spout/model'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleRoute } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)

/**
 * Answers with the headers it got: at once, after `/after/<ms>`, or `/never`. `/fail/<code>/<n>` fails n times, and
 * `/cut/<n>` closes the connection n times, before it answers.
 */
async function patientMember() {
  let asked: number[] = []
  let bodies: number[] = []
  let held: http.ServerResponse[] = []
  const server = http.createServer((request, response) => {
    const { url = '', headers } = request
    asked.push(performance.now())
    const at = bodies.push(0) - 1
    request.on('data', (part: Buffer) => {
      bodies[at] = (bodies[at] ?? 0) + part.length
    })
    if (url === '/never') {
      held.push(response)
      return
    }
    const [, how, code = '', times = code] = /^\/(fail|cut)\/(\d+)(?:\/(\d+))?$/.exec(url) ?? []
    if (how !== undefined && asked.length <= Number(times)) {
      if (how === 'cut') request.socket.destroy()
      else request.on('end', () => response.writeHead(Number(code)).end('failed'))
      return
    }
    const wait = Number(/^\/after\/(\d+)$/.exec(url)?.[1] ?? 0)
    setTimeout(() => response.end(JSON.stringify(headers)), wait)
  })
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => socket.destroy())
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const forget = () => {
    asked = []
    bodies = []
    held = []
  }
  /** Answers the first that asked for `/never`. */
  const release = () => held.shift()?.end('late')
  const port = (server.address() as net.AddressInfo).port
  /** When requests came, in milliseconds, and the lengths of their bodies. */
  return { name: 'patient', port, asked: () => asked, bodies: () => bodies, forget, release, close }
}

const member = await started(patientMember())
/** A member whose packets are dropped, so that connecting times out. */
const SILENT = 9
afterAll(() => run('ip', ['netns', 'exec', lab.place.namespace!, 'nft', 'delete table inet silent']).catch(() => {}))

const forward = (timeouts?: object, retry?: object): NodeForward => ({
  type: 'forward',
  pools: [{ pool: 1, weight: 1 }],
  ...(timeouts && { timeouts: routeTimeouts.parse(timeouts) }),
  ...(retry && { retry: routeRetry.parse(retry) }),
})
const onHost = (name: string): RouteCondition => ({ on: 'host', compare: 'exact', values: [name], not: false })
const route = (number: number, host: string, timeouts?: object, retry?: object): NodeRoute =>
  sampleRoute(number, forward(timeouts, retry), [onHost(host)])

const putRoutes = (
  driver: HaproxyDriver,
  routes: readonly NodeRoute[],
  service: Partial<Service> = {},
  port = member.port,
) => put(driver, webEntry([memberAt({ name: 'patient', port })], {}, { routes, ...service }))

interface Answer {
  readonly status: number
  /** What the member got. */
  readonly headers: Readonly<Record<string, string>>
}

const ask = (driver: HaproxyDriver, host: string, path: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = { host: proxy, port: portOf(driver, 'web-80'), path, headers: { host }, agent: false }
    const request = http.get(options, (response) => {
      let body = ''
      response.on('data', (part) => {
        body += part
      })
      response.on('end', () => {
        const headers = body.startsWith('{') ? (JSON.parse(body) as Record<string, string>) : {}
        resolve({ status: response.statusCode ?? 0, headers })
      })
    })
    request.on('error', reject)
  })

const statusOf = async (...request: Parameters<typeof ask>): Promise<number> => (await ask(...request)).status

describe('time-outs of routes', () => {
  test.each(['requestMs', 'backendRequestMs'])('%s ends a request whose member is silent, with 504', async (field) => {
    const driver = lab.driver()
    await putRoutes(driver, [route(1, 'short', { [field]: 200 }), route(2, 'long', { [field]: 30_000 })])
    expect(await statusOf(driver, 'short', '/never')).toBe(504)
    expect(await statusOf(driver, 'long', '/after/500')).toBe(200)
    await putRoutes(driver, [route(1, 'short', { [field]: 30_000 }), route(2, 'long', { [field]: 200 })])
    expect(await statusOf(driver, 'short', '/after/500')).toBe(200)
    expect(await statusOf(driver, 'long', '/never')).toBe(504)
    expect(driver.counters.reloads).toBe(0)
  })

  test('count before the listener’s, and 0 is none', async () => {
    const driver = lab.driver()
    const routes = [
      route(1, 'none', { backendRequestMs: 0 }),
      route(2, 'no-end', { requestMs: 0 }),
      route(3, 'longer', { requestMs: 30_000 }),
      route(4, 'least', { requestMs: 30_000, backendRequestMs: 200 }),
      route(5, 'listener'),
    ]
    await putRoutes(driver, routes, { timeouts: { clientMs: 50_000, connectMs: 5_000, memberMs: 300 } })
    for (const host of ['none', 'no-end', 'longer'])
      expect([host, await statusOf(driver, host, '/after/1000')]).toEqual([host, 200])
    expect(await statusOf(driver, 'least', '/never')).toBe(504)
    expect(await statusOf(driver, 'listener', '/never')).toBe(504)
  })

  test('requestMs ends also the wait for a connection', async () => {
    const driver = lab.driver()
    const silent = ['add table inet silent', 'add chain inet silent out { type filter hook output priority 0; }']
    const text = [...silent, `add rule inet silent out tcp dport ${SILENT} drop`].join('\n')
    await run('ip', ['netns', 'exec', lab.place.namespace!, 'nft', text])
    await putRoutes(driver, [route(1, 'short', { requestMs: 300 })], {}, SILENT)
    expect(await statusOf(driver, 'short', '/')).toBe(504)
  })

  test('leave what a member sees of the client as it was', async () => {
    const driver = lab.driver()
    const insertHeaders = ['x-forwarded-for', 'x-forwarded-port'] as const
    await putRoutes(driver, [route(1, 'timed', { requestMs: 10_000 }), route(2, 'plain')], { insertHeaders })
    const [timed, plain] = [await ask(driver, 'timed', '/'), await ask(driver, 'plain', '/')]
    expect(timed.status).toBe(200)
    expect({ ...timed.headers, host: 'plain' }).toEqual(plain.headers)
  })

  test('end no upgraded connection', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [route(1, 'timed', { requestMs: 200, backendRequestMs: 150 })])
    const socket = await new Promise<net.Socket>((resolve, reject) => {
      const headers = { host: 'timed', connection: 'upgrade', upgrade: 'echo' }
      const request = http.get({ host: proxy, port: portOf(driver, 'web-80'), headers, agent: false })
      request.on('upgrade', (_, upgraded) => resolve(upgraded as net.Socket))
      request.on('error', reject)
    })
    // Longer than both limits.
    expect(await statusOf(driver, 'timed', '/never')).toBe(504)
    expect(await statusOf(driver, 'timed', '/never')).toBe(504)
    const echoed = new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(String(data)))
      socket.once('close', () => resolve('closed'))
    })
    socket.write('still here')
    expect(await echoed).toBe('still here')
    socket.destroy()
  })

  test('hold in a process that replaced another', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [route(1, 'timed', { requestMs: 5_000 }), route(2, 'short', { requestMs: 200 })])
    const running = ask(driver, 'timed', '/after/1500')
    await driver.closeGracefully('now')
    expect(driver.counters.reloads).toBe(1)
    expect(await statusOf(driver, 'timed', '/after/300')).toBe(200)
    expect(await statusOf(driver, 'short', '/never')).toBe(504)
    expect((await running).status).toBe(200)
  })
})

describe('retries of routes', () => {
  beforeEach(() => member.forget())

  const request = async (driver: HaproxyDriver, path: string, ...options: readonly string[]): Promise<number> => {
    const url = `http://${proxy}:${portOf(driver, 'web-80')}${path}`
    const told = ['-s', '-o', '/dev/null', '-w', '%{http_code}', ...options, url]
    if (!options.includes('Host: silent')) told.unshift('-H', 'Host: again')
    return Number((await run('curl', told)).stdout)
  }

  test.each<readonly [string, readonly string[], number, number]>([
    ['/fail/503/2', [], 200, 3],
    ['/fail/503/9', [], 503, 3],
    ['/fail/429/1', [], 200, 2],
    ['/fail/500/1', [], 500, 1],
    ['/fail/425/1', [], 425, 1],
    ['/cut/2', [], 200, 3],
    ['/cut/9', [], 502, 3],
    ['/never', ['-H', 'Host: silent'], 504, 3],
    ['/fail/503/1', ['-X', 'PUT', '-d', 'small'], 200, 2],
    ['/fail/503/1', ['-X', 'POST', '-d', 'small'], 503, 1],
    ['/cut/1', ['-X', 'POST', '-d', 'small'], 502, 1],
  ])('two, for 503 and 429: %s %j gives %i after %i attempts', async (path, options, status, attempts) => {
    const driver = lab.driver()
    const retry = { attempts: 2, codes: [503, 429] }
    await putRoutes(driver, [route(1, 'again', undefined, retry), route(2, 'silent', { backendRequestMs: 300 }, retry)])
    expect([await request(driver, path, ...options), member.asked().length]).toEqual([status, attempts])
    expect(new Set(member.bodies()).size).toBe(1)
    expect(driver.counters.reloads).toBe(0)
  })

  test('are by route, and change without a reload', async () => {
    const driver = lab.driver()
    for (const [attempts, codes, asked] of [
      [1, [503], 2],
      [4, [503], 5],
      [4, [502], 1],
    ] as const) {
      member.forget()
      await putRoutes(driver, [route(1, 'again', undefined, { attempts, codes }), route(2, 'once')])
      expect([await request(driver, '/fail/503/9'), member.asked().length]).toEqual([503, asked])
      member.forget()
      expect([await statusOf(driver, 'once', '/fail/503/9'), member.asked().length]).toEqual([503, 1])
    }
    expect(driver.counters.reloads).toBe(0)
  })

  test('wait between attempts at least as long as the route says', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [route(1, 'again', undefined, { attempts: 2, codes: [503], backoffMs: 400 })])
    expect(await request(driver, '/fail/503/2')).toBe(200)
    const [first = 0, second = 0, third = 0] = member.asked()
    expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(390)
  })

  test('end with the time of the request', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [
      route(1, 'again', { requestMs: 700, backendRequestMs: 500 }, { attempts: 5, codes: [503], backoffMs: 60_000 }),
    ])
    expect([await request(driver, '/fail/503/9'), member.asked().length]).toEqual([504, 1])
  })
})

describe('requests of a client at once', () => {
  beforeEach(() => member.forget())

  const limited = (number: number, host: string, clientConcurrency?: number): NodeRoute =>
    sampleRoute(number, { ...forward(), ...(clientConcurrency !== undefined && { clientConcurrency }) }, [onHost(host)])
  /** Asks for what never comes, until it is ended. */
  const hold = (driver: HaproxyDriver, host: string, localAddress?: string) => {
    const to = { host: proxy, port: portOf(driver, 'web-80'), path: '/never', headers: { host }, agent: false }
    const request = http.get({ ...to, ...(localAddress !== undefined && { localAddress }) })
    request.on('error', () => {})
    return () => request.destroy()
  }

  test('up to the limit are served, one more gets 503, and each that ends makes room', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [limited(1, 'limited', 3), limited(2, 'other', 1), limited(3, 'open')])
    const ends = [hold(driver, 'limited'), hold(driver, 'limited')]
    await waitFor(async () => member.asked().length === 2, { what: 'two requests under way' })
    // A third request at a time is allowed, again and again.
    for (let at = 0; at < 5; at++) expect(await statusOf(driver, 'limited', '/')).toBe(200)
    ends.push(hold(driver, 'limited'))
    await waitFor(async () => member.asked().length === 8, { what: 'three requests under way' })
    for (let at = 0; at < 5; at++) expect(await statusOf(driver, 'limited', '/')).toBe(503)
    expect(member.asked()).toHaveLength(8)
    for (const host of ['other', 'open']) expect([host, await statusOf(driver, host, '/')]).toEqual([host, 200])
    // Another client has a count of its own.
    ends.push(hold(driver, 'limited', await lab.source(3)))
    await waitFor(async () => member.asked().length === 11, { what: 'a request of another client' })
    member.release()
    await waitFor(async () => (await statusOf(driver, 'limited', '/')) === 200, { what: 'room' })
    await putRoutes(driver, [limited(1, 'limited', 2), limited(2, 'other', 1)])
    expect(await statusOf(driver, 'limited', '/')).toBe(200)
    expect(driver.counters.reloads).toBe(0)
    for (const end of ends) end()
  })

  test('streams of one connection count', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [limited(1, 'limited', 2)])
    const url = `http://${proxy}:${portOf(driver, 'web-80')}/after/1000`
    const told = ['-s', '--parallel', '--parallel-immediate', '--http2-prior-knowledge', '-H', 'Host: limited']
    const outputs = Array.from({ length: 5 }, () => ['-o', '/dev/null', url]).flat()
    const { stdout } = await run('curl', [...told, '-w', '%{http_code} ', ...outputs])
    expect(stdout.trim().split(' ').sort()).toEqual(['200', '200', '503', '503', '503'])
  })
})

describe('a rate of clients', () => {
  beforeEach(() => member.forget())

  const limited = (number: number, host: string, clientRate: NodeForward['clientRate']): NodeRoute =>
    sampleRoute(number, { ...forward(), ...(clientRate && { clientRate }) }, [onHost(host)])
  const HOURLY = { requests: 2, perSeconds: 3600, burst: 2 }
  const statuses = async (driver: HaproxyDriver, host: string, count: number) => {
    const got: number[] = []
    for (let at = 0; at < count; at++) got.push(await statusOf(driver, host, '/'))
    return got
  }

  const responseOf = (driver: HaproxyDriver, host: string, localAddress?: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const to = { host: proxy, port: portOf(driver, 'web-80'), path: '/', headers: { host }, agent: false }
      const options = { ...to, ...(localAddress !== undefined && { localAddress }) }
      http.get(options, (response) => resolve(response.resume())).on('error', reject)
    })

  test('lets through the burst and one more, refuses the rest with 429, and says when to ask again', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [limited(1, 'limited', HOURLY), limited(2, 'other', { ...HOURLY, burst: 0 })])
    expect(await statuses(driver, 'limited', 5)).toEqual([200, 200, 200, 429, 429])
    expect(member.asked()).toHaveLength(3)
    expect(await statuses(driver, 'other', 2)).toEqual([200, 429])
    // Another client has tokens of its own.
    expect((await responseOf(driver, 'limited', await lab.source(3))).statusCode).toBe(200)
    expect(Number((await responseOf(driver, 'limited')).headers['retry-after'])).toBeGreaterThan(1700)
    // A changed limit starts with full buckets, and does not affect other routes.
    await putRoutes(driver, [limited(1, 'limited', { ...HOURLY, burst: 1 }), limited(2, 'other', undefined)])
    expect(await statuses(driver, 'limited', 3)).toEqual([200, 200, 429])
    expect(await statuses(driver, 'other', 3)).toEqual([200, 200, 200])
    expect(driver.counters.reloads).toBe(0)
  })

  test('fills the bucket again', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [limited(1, 'limited', { requests: 1, perSeconds: 2, burst: 0 })])
    expect(await statusOf(driver, 'limited', '/')).toBe(200)
    await waitFor(async () => (await statusOf(driver, 'limited', '/')) === 200, { what: 'a token' })
  })
})
