import { execFile } from 'node:child_process'
import http from 'node:http'
import { promisify } from 'node:util'
import type { NodeRoute, RouteCondition } from '@spout/model'
import { matchRoutes, type RoutedRequest } from '@spout/testkit/match-routes'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleEntry,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { proxyFiles } from './proxy-files.ts'
import { processesOn } from './proxy-process.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
const web: LabMember[] = []

beforeAll(async () => {
  for (const name of ['a', 'b', 'c']) web.push(await started(httpMember(name)))
})

const toPool = (pool: number | null): NodeRoute['action'] => ({ type: 'forward', pools: [{ pool, weight: 1 }] })
const respond = (code: number): NodeRoute['action'] => ({ type: 'respond', code })
const onHost = (
  value: string,
  compare: 'exact' | 'one-label' | 'any-labels' = 'exact',
  not = false,
): RouteCondition => ({ on: 'host', compare, values: [value], not })
const onPath = (value: string, compare: 'exact' | 'elements' | 'prefix' = 'elements', not = false): RouteCondition => ({
  on: 'path',
  compare,
  values: [value],
  not,
})
const onMethod = (...values: ('GET' | 'POST' | 'PUT' | 'OPTIONS')[]): RouteCondition => ({
  on: 'method',
  values,
  not: false,
})

/** Pools 1 to 3 with a member each, `a` to `c`; pool 4 has none. */
const entryOf = (routes: readonly NodeRoute[] | undefined, pool: number | null = null) =>
  sampleEntry(
    'web',
    [sampleService('web-80', { pool, ...(routes === undefined ? {} : { routes }) })],
    [...web.map((member, at) => samplePool(at + 1, { members: [memberAt(member)] })), samplePool(4, { members: [] })],
  )

interface Reply {
  readonly status: number
  readonly member: string | undefined
  readonly location: string | undefined
}

function send(port: number, { method, host, path }: RoutedRequest, agent: http.Agent | false = false): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = host === null ? {} : { host }
    const options = { host: proxy, port, method, path: path ?? '*', headers, setHost: false, agent, timeout: 5_000 }
    const request = http.request(options, (response) => {
      response.resume()
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          member: response.headers['x-member'] as string | undefined,
          location: response.headers.location,
        }),
      )
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', reject)
    request.end()
  })
}
const get = (port: number, host: string | null, path: string | null, method = 'GET') =>
  send(port, { method, host, path })

describe('routes', () => {
  test('lead to the pool of the first that takes the request', async () => {
    const driver = lab.driver()
    const routes = [
      sampleRoute(1, toPool(1), [onHost('shop.example.com'), onPath('/cart')]),
      sampleRoute(2, toPool(2), [onHost('shop.example.com')]),
      sampleRoute(3, toPool(3), [onHost('example.com', 'one-label')]),
      sampleRoute(4, respond(403), [onHost('example.com', 'any-labels'), onMethod('POST')]),
      sampleRoute(5, toPool(1), [onPath("/a;b'c", 'prefix')]),
      sampleRoute(6, toPool(4), [onPath('/empty', 'exact')]),
      sampleRoute(7, toPool(null), [onPath('/gone', 'exact')]),
    ]
    await put(driver, entryOf(routes, 2))
    const port = portOf(driver, 'web-80')
    const expected: readonly (readonly [
      Parameters<typeof get> extends [number, ...infer Rest] ? Rest : never,
      string,
    ])[] = [
      [['shop.example.com', '/cart'], 'a'],
      [['SHOP.example.com.:80', '/cart/1?q=/'], 'a'],
      [['shop.example.com', '/cartoon'], 'b'],
      [['www.example.com', '/'], 'c'],
      [['a.www.example.com', '/', 'POST'], '403'],
      [['a.b.c.d.www.example.com', '/', 'POST'], '403'],
      [['a.www.example.com', '/'], 'b'],
      [['example.com', '/', 'POST'], 'b'],
      [['[::1]:80', "/a;b'cd"], 'a'],
      [['other.test', "/a;b'"], 'b'],
      [['other.test', '/empty'], '503'],
      [['other.test', '/gone'], '503'],
      [['other.test', null, 'OPTIONS'], 'b'],
    ]
    for (const [request, answer] of expected) {
      const reply = await get(port, ...request)
      expect(reply.member ?? String(reply.status), JSON.stringify(request)).toBe(answer)
    }
    expect(driver.counters.reloads).toBe(0)
  })

  test('answer 503 where none takes the request and there is no default', async () => {
    const driver = lab.driver()
    await put(driver, entryOf([sampleRoute(1, toPool(1), [onPath('/a')])]))
    expect((await get(portOf(driver, 'web-80'), 'x', '/b')).status).toBe(503)
    expect((await get(portOf(driver, 'web-80'), 'x', '/a')).member).toBe('a')
  })

  test('redirect, as curl sees it', async () => {
    const driver = lab.driver()
    const redirect = (change: object): NodeRoute['action'] => ({
      ...({ type: 'redirect', code: 301, scheme: null, host: null, port: null, path: null } as const),
      ...change,
    })
    const cases = [
      [{ scheme: 'https' }, 301, 'https://shop.example.com/0/x?y=z'],
      [{ scheme: 'https', port: 443, code: 308 }, 308, 'https://shop.example.com/1/x?y=z'],
      [{ host: 'new.example.com', port: 8080, code: 302 }, 302, 'http://new.example.com:8080/2/x?y=z'],
      [{ path: '/a/%3B;b?c=d&e', code: 303 }, 303, 'http://shop.example.com/a/%3B;b?c=d&e'],
      [{ scheme: 'https', host: 'n.test', port: 80, path: '/', code: 307 }, 307, 'https://n.test:80/'],
    ] as const
    await put(driver, entryOf(cases.map(([change], at) => sampleRoute(at, redirect(change), [onPath(`/${at}`)]))))
    for (const [at, [, code, location]] of cases.entries()) {
      const url = `http://${proxy}:${portOf(driver, 'web-80')}/${at}/x?y=z`
      const form = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}']
      const { stdout } = await run('curl', [...form, '-H', 'Host: shop.example.com:1234', url])
      expect(stdout).toBe(`${code} ${location}`)
    }
    const reply = await get(portOf(driver, 'web-80'), '[fd00::1]:80', '/0')
    expect(reply.location).toBe('https://[fd00::1]/0')
    expect((await get(portOf(driver, 'web-80'), null, '/0')).status).toBe(400)
  })

  test('share requests by weight', async () => {
    const driver = lab.driver()
    const pools = [
      { pool: 1, weight: 300 },
      { pool: 2, weight: 100 },
      { pool: 3, weight: 0 },
    ]
    await put(driver, entryOf([sampleRoute(1, { type: 'forward', pools })]))
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const counts = new Map<string, number>()
    for (let count = 0; count < 400; count++) {
      const { member = '' } = await send(portOf(driver, 'web-80'), { method: 'GET', host: 'x', path: '/' }, agent)
      counts.set(member, (counts.get(member) ?? 0) + 1)
    }
    agent.destroy()
    expect([...counts.keys()].sort()).toEqual(['a', 'b'])
    // Seven standard deviations.
    expect(Math.abs(counts.get('a')! - 300)).toBeLessThan(61)
  })

  test('take the requests that the reference says, in any table', async () => {
    const driver = lab.driver()
    // A member would refuse a request without `Host` by itself.
    const codes = [400, 403, 404, 405, 410, 421, 429, 500, 502, 504] as const
    const names = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }).map((all) => all.join('.'))
    const paths = fc.array(fc.constantFrom('/', 'a', '/a', ';'), { maxLength: 4 }).map((parts) => `/${parts.join('')}`)
    const condition = fc.oneof(
      fc
        .tuple(names, fc.constantFrom('exact', 'one-label', 'any-labels'), fc.boolean())
        .map((parts) => onHost(...parts)),
      fc.tuple(paths, fc.constantFrom('exact', 'elements', 'prefix'), fc.boolean()).map((parts) => onPath(...parts)),
      fc.constantFrom('GET', 'POST').map((method) => onMethod(method)),
    )
    const table = fc.array(fc.array(condition, { maxLength: 3 }), { minLength: 1, maxLength: codes.length })
    const request = fc.record<RoutedRequest>({
      method: fc.constantFrom('GET', 'POST', 'OPTIONS'),
      host: fc.option(fc.tuple(names, fc.constantFrom('', ':80', '.')).map((parts) => parts.join(''))),
      path: paths,
    })
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    await fc.assert(
      fc.asyncProperty(table, fc.array(request, { minLength: 30, maxLength: 30 }), async (conditions, requests) => {
        const routes = conditions.map((all, at) => sampleRoute(at, respond(codes[at]!), all))
        await put(driver, entryOf(routes))
        for (const one of requests) {
          const { status } = await send(portOf(driver, 'web-80'), one, agent)
          const at = matchRoutes(routes, one)
          expect(status, JSON.stringify(one)).toBe(at === null ? 503 : codes[at])
        }
      }),
      { numRuns: 60 },
    )
    agent.destroy()
    expect(driver.counters.reloads).toBe(0)
  })

  test('change under load without a wrong answer or a reload', async () => {
    const driver = lab.driver()
    const shop = (pool: number) => sampleRoute(1, toPool(pool), [onHost('shop.example.com'), onPath('/a')])
    const steps: readonly (readonly [readonly NodeRoute[] | undefined, string])[] = [
      [undefined, 'c'],
      [[shop(1)], 'a'],
      [[shop(2)], 'b'],
      [[sampleRoute(2, toPool(1), [onHost('example.com', 'any-labels')]), shop(2)], 'a'],
      [[shop(2), sampleRoute(3, toPool(1))], 'b'],
      [[sampleRoute(3, toPool(1))], 'a'],
      [[], 'c'],
    ]
    await put(driver, entryOf(undefined, 3))
    const port = portOf(driver, 'web-80')
    let [step, changing, stopping, asked] = [0, false, false, 0]
    const wrong: unknown[] = []
    const client = async (): Promise<void> => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      while (!stopping) {
        const before = step
        const { member } = await send(port, { method: 'GET', host: 'shop.example.com', path: '/a/b' }, agent)
        const possible = new Set<string | undefined>()
        for (let at = before; at <= step + (changing ? 1 : 0); at++) possible.add(steps[at % steps.length]![1])
        if (!possible.has(member)) wrong.push([member, [...possible]])
        asked++
      }
      agent.destroy()
    }
    const clients = Array.from({ length: 8 }, client)
    for (let change = 1; change <= 20 * steps.length; change++) {
      const answered = asked
      changing = true
      await put(driver, entryOf(steps[change % steps.length]![0], 3))
      step = change
      changing = false
      // At least one whole request of each client in between.
      while (asked < answered + 16) await new Promise((resolve) => setImmediate(resolve))
    }
    stopping = true
    await Promise.all(clients)
    expect(wrong).toEqual([])
    expect(driver.counters.reloads).toBe(0)
    expect(portOf(driver, 'web-80')).toBe(port)
  })

  test('outlive the agent and the process', async () => {
    const first = lab.driver()
    const entry = entryOf([
      sampleRoute(1, toPool(2), [onHost('shop.example.com')]),
      sampleRoute(2, respond(410), [onHost('example.com', 'any-labels'), onMethod('POST')]),
    ])
    await put(first, entry)
    const port = portOf(first, 'web-80')
    await first.close()
    const second = lab.driver()
    await second.adopt([sampleWanted(entry)])
    await put(second, entry)
    expect(second.counters).toEqual({ transactions: 0, reloads: 0 })
    expect(await second.observe()).toEqual([])
    const answers = async () => [
      (await get(port, 'shop.example.com', '/')).member,
      (await get(port, 'a.example.com', '/', 'POST')).status,
    ]
    expect(await answers()).toEqual(['b', 410])
    const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
    process.kill((await processesOn(files.config))[0]!.pid, 'SIGKILL')
    await expect.poll(() => answers().catch(() => null), { timeout: 10_000 }).toEqual(['b', 410])
  })
})
