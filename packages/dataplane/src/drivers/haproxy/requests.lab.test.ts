import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { LoadBalancerEntry, Service } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { beforeAll, describe, expect, test } from 'vitest'
import type { CarriedRequest } from '../../contracts/driver.ts'
import { httpMember, type LabMember, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { sendRaw } from '../../testing/haproxy/send-raw.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyOptions } from './sections/options.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
let web: LabMember

beforeAll(async () => {
  web = await started(httpMember('web'))
})

const entryOf = (service: Partial<Service>): LoadBalancerEntry =>
  sampleEntry('lb', [sampleService('told', { pool: 7, ...service })], [samplePool(7, { members: [memberAt(web)] })])
const COUNTED = { latencies: true } as const

function listening(options: Partial<HaproxyOptions> = {}) {
  const told: CarriedRequest[] = []
  const driver = lab.driver({ onRequest: (request) => told.push(request), options })
  const port = () => portOf(driver, 'told')
  const curl = (path: string, ...words: readonly string[]) =>
    run('curl', ['-s', ...words, `http://${proxy}:${port()}${path}`])
  const says = (count: number) => waitFor(() => told.length >= count, { what: `${count} requests` })
  return { driver, told, port, curl, says }
}

describe('requests of a listener that tells of them', () => {
  test('come with what the client sent and how long they took; turning it on and off costs no reload', async () => {
    const { driver, told, curl, says } = listening()
    await put(driver, entryOf({}))
    await curl('/before')
    await put(driver, entryOf(COUNTED))
    await curl('/a/b?c=%0a"', '-A', 'tester/1', '-e', 'http://from/')
    await says(1)
    expect(told[0]).toMatchObject({
      ...{ listenerId: 'told', pool: 7, status: 200, ending: '--', tlsVersion: null },
      member: { address: MEMBER_ADDRESS, port: web.port },
      http: { method: 'GET', uri: '/a/b?c=%0a"', version: '1.1', userAgent: 'tester/1', referer: 'http://from/' },
    })
    expect(told[0]!.durationUs).toBeGreaterThan(0)
    expect(told[0]!.bytesOut).toBeGreaterThan(0)
    await put(driver, entryOf({}))
    await curl('/after')
    await put(driver, entryOf(COUNTED))
    await curl('/again')
    await says(2)
    expect(told.map(({ http }) => http?.uri)).toEqual(['/a/b?c=%0a"', '/again'])
    expect(driver.counters.reloads).toBe(0)
  })

  test('stay one each, whatever the client sends', async () => {
    const { driver, told, port, says } = listening()
    await put(driver, entryOf(COUNTED))
    const agent = '\u001b[2J %n - "x" %[env(PATH)] \t {host} \\ \u00e9'
    const ask = (head: string) => sendRaw({ host: proxy, port: port() }, [Buffer.from(head, 'latin1')], true)
    const long = 'a'.repeat(6_000)
    await ask(
      `GET /${long} HTTP/1.1\r\nHost: h\r\nUser-Agent: ${agent}\r\nReferer: ${long}\r\nConnection: close\r\n\r\n`,
    )
    await says(1)
    expect(told[0]!.http).toEqual({
      ...{ method: 'GET', uri: `/${long}`.slice(0, 1_024), version: '1.1', host: 'h' },
      ...{ userAgent: agent, referer: long.slice(0, 256) },
    })
    // No request at all.
    await ask('\u0000\n\n- 1 2 3\r\n\r\n')
    await says(2)
    expect(told[1]).toMatchObject({ listenerId: 'told', status: 400, durationUs: null, pool: null, http: null })
    expect(told).toHaveLength(2)
  })

  test('that no listener wants are no more than counted', async () => {
    const { driver, told, port, curl, says } = listening()
    const other = sampleEntry(
      'other',
      [sampleService('silent', { pool: 7 })],
      [samplePool(7, { members: [memberAt(web)] })],
    )
    await put(driver, entryOf(COUNTED))
    await put(driver, other)
    await run('curl', ['-s', `http://${proxy}:${portOf(driver, 'silent')}/silent`])
    await sendRaw({ host: proxy, port: portOf(driver, 'silent') }, [Buffer.from('x\r\n\r\n')], true)
    await curl('/last')
    await says(1)
    expect(told.map(({ http }) => http?.uri)).toEqual(['/last'])
    expect(driver.lines).toEqual({ read: 2, dropped: 0, ignored: 1 })
    expect(port()).not.toBe(portOf(driver, 'silent'))
  })

  test('come with the route that took them, whatever it does, if the listener asks for it; that costs no reload', async () => {
    const path = (value: string) => [{ on: 'path' as const, compare: 'elements' as const, values: [value], not: false }]
    const to = { type: 'forward' as const, pools: [{ pool: 7, weight: 1 }] }
    const routes = [
      sampleRoute(1, to, [...path('/plain'), { on: 'method', values: ['POST'], not: true }]),
      sampleRoute(2, { type: 'respond', code: 403 }, path('/refused')),
      sampleRoute(3, { ...to, pools: [...to.pools, { pool: null, weight: 0 }] }, path('/weighted')),
      sampleRoute(4, { ...to, timeouts: { requestMs: 30_000, backendRequestMs: null } }, path('/limited')),
      sampleRoute(5, { type: 'forward', pools: [{ pool: null, weight: 1 }] }, path('/nowhere')),
    ]
    const { driver, told, curl, says } = listening()
    await put(driver, entryOf({ ...COUNTED, routes }))
    await curl('/plain/before')
    await put(driver, entryOf({ ...COUNTED, routes, routeFigures: true }))
    for (const asked of ['/plain/now', '/refused', '/weighted', '/limited', '/nowhere', '/none']) await curl(asked)
    await curl('/plain', '-d', 'posted')
    await put(driver, entryOf({ ...COUNTED, routes }))
    await curl('/plain/after')
    await says(9)
    const ids = routes.map(({ id }) => id)
    expect(told.map(({ http, routeId, status }) => [http?.uri, routeId, status])).toEqual([
      ['/plain/before', null, 200],
      ['/plain/now', ids[0], 200],
      ['/refused', ids[1], 403],
      ['/weighted', ids[2], 200],
      ['/limited', ids[3], 200],
      ['/nowhere', ids[4], 503],
      ['/none', null, 200],
      ['/plain', null, 200],
      ['/plain/after', null, 200],
    ])
    expect(driver.counters.reloads).toBe(0)
  })

  test('are dropped and counted when they come faster than they are read, and answered all the same', async () => {
    const { driver, told, port } = listening({ linesPerSecond: 1 })
    await put(driver, entryOf(COUNTED))
    const url = `http://${proxy}:${port()}/?${'x'.repeat(900)}[1-400]`
    const { stdout } = await run('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}\n', url])
    expect(stdout.trim().split('\n')).toEqual(Array.from({ length: 400 }, () => '200'))
    const dropped = await waitFor(
      async () => {
        await driver.stats()
        return driver.lines.dropped > 0 && driver.lines.dropped
      },
      { what: 'dropped lines' },
    )
    expect(dropped).toBeLessThan(400)
    expect(told.length).toBeLessThan(400)
  })

  test('go on with the next agent and with a new process', async () => {
    const first = listening()
    await put(first.driver, entryOf(COUNTED))
    await first.driver.close()
    const next = listening()
    await put(next.driver, entryOf(COUNTED))
    await next.curl('/next')
    await next.says(1)
    // Another shape costs a reload.
    await put(next.driver, entryOf({ ...COUNTED, timeouts: { clientMs: 1_234, connectMs: 5_000, memberMs: 50_000 } }))
    await next.curl('/reloaded')
    await next.says(2)
    expect(next.told.map(({ http }) => http?.uri)).toEqual(['/next', '/reloaded'])
    expect(next.driver.counters.reloads).toBe(1)
    expect(first.told).toEqual([])
  })
})

test('is offered only where somebody is told', () => {
  expect(listening().driver.features).toContain('l7.latencies')
  expect(lab.driver().features).not.toContain('l7.latencies')
})
