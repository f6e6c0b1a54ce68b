import { execFile } from 'node:child_process'
import http from 'node:http'
import type net from 'node:net'
import { promisify } from 'node:util'
import { type NodeForward, type NodeRoute, type RouteCondition, routeTimeouts, type Service } from '@spout/model'
import { afterAll, describe, expect, test } from 'vitest'
import { MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleRoute } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)

/** Answers with the client's address and the headers it got: at once, after `/after/<ms>`, or `/never`. */
async function patientMember() {
  let asked = 0
  const server = http.createServer(({ url = '', headers }, response) => {
    asked++
    if (url === '/never') return
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
  return { name: 'patient', port: (server.address() as net.AddressInfo).port, asked: () => asked, close }
}

const member = await started(patientMember())
/** Nobody answers packets to it. */
const SILENT = 9
afterAll(() => run('ip', ['netns', 'exec', lab.place.namespace!, 'nft', 'delete table inet silent']).catch(() => {}))

const forward = (timeouts?: object): NodeForward => ({
  type: 'forward',
  pools: [{ pool: 1, weight: 1 }],
  ...(timeouts && { timeouts: routeTimeouts.parse(timeouts) }),
})
const onHost = (name: string): RouteCondition => ({ on: 'host', compare: 'exact', values: [name], not: false })
const route = (number: number, host: string, timeouts?: object): NodeRoute =>
  sampleRoute(number, forward(timeouts), [onHost(host)])

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
