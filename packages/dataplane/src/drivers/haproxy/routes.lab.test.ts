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
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

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

function send(
  port: number,
  { method, host, path, query, headers: lines = [] }: RoutedRequest,
  agent: http.Agent | false = false,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = [...(host === null ? [] : ['host', host]), ...lines.flat()]
    const target = `${path ?? '*'}${query === undefined ? '' : `?${query}`}`
    const options = { host: proxy, port, method, path: target, headers, setHost: false, agent, timeout: 30_000 }
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
      ...({ type: 'redirect', code: 301, scheme: null, host: null, port: null, path: null, pathPrefix: null } as const),
      ...change,
    })
    const cases = [
      [{ scheme: 'https' }, 301, 'https://shop.example.com/0/x?y=z'],
      [{ scheme: 'https', port: 443, code: 308 }, 308, 'https://shop.example.com/1/x?y=z'],
      [{ host: 'new.example.com', port: 8080, code: 302 }, 302, 'http://new.example.com:8080/2/x?y=z'],
      [{ path: '/a/%3B;b?c=d&e', code: 303 }, 303, 'http://shop.example.com/a/%3B;b?c=d&e'],
      [{ scheme: 'https', host: 'n.test', port: 80, path: '/', code: 307 }, 307, 'https://n.test:80/'],
      [{ pathPrefix: '/v2', code: 302 }, 302, 'http://shop.example.com/v2/5/x?y=z'],
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

  test('test requests for what is no key, as curl sends them', async () => {
    const driver = lab.driver()
    const own = { not: false }
    const rows: readonly (readonly [RouteCondition, readonly string[], readonly string[]])[] = [
      [
        { on: 'header', name: 'x-canary', compare: 'exact', values: ['always'], ...own },
        ['-H', 'X-Canary: always'],
        ['-H', 'X-Canary: never'],
      ],
      [
        { on: 'header', name: 'user-agent', compare: 'regex', values: ['(?i)^MOZILLA/[45]\\.0 '], ...own },
        ['-A', 'Mozilla/5.0 (X)'],
        ['-A', 'xMozilla/5.0 (X)'],
      ],
      [
        { on: 'header', name: 'accept-language', compare: 'prefix', values: ['de'], ...own },
        ['-H', 'Accept-Language: en, de-CH'],
        ['-H', 'Accept-Language: en'],
      ],
      [
        { on: 'cookie', name: 'group', compare: 'ends-with', values: ['-b'], ...own },
        ['-b', 'a=1; group=test-b'],
        ['-b', 'group=test-bc; xgroup=-b'],
      ],
      [{ on: 'query', name: 'v', compare: 'contains', values: ['2', '3'], ...own }, ['/?a&v=x3y'], ['/?v=1&w=3']],
      [{ on: 'path', compare: 'ends-with', values: ['.jpg', '.png'], ...own }, ['/a/b.png?x=.txt'], ['/a.png/b']],
      [
        { on: 'path', compare: 'regex', values: ['^/users/[0-9]+/photo$'], ...own },
        ['/users/12/photo'],
        ['/users/x/photo'],
      ],
      [
        { on: 'host', compare: 'contains', values: ['.eu.'], ...own },
        ['-H', 'Host: a.EU.example'],
        ['-H', 'Host: a.us.example'],
      ],
      [{ on: 'source', values: ['192.0.2.0/24', '0.0.0.0/0'], ...own }, ['/'], []],
      [{ on: 'source', values: ['::/0', '0.0.0.0/1', '128.0.0.0/1'], not: true }, [], ['/']],
    ]
    for (const [condition, yes, no] of rows) {
      await put(driver, entryOf([sampleRoute(1, respond(410), [condition]), sampleRoute(2, respond(404))]))
      const status = async (args: readonly string[]): Promise<string> => {
        const target = args[0]?.startsWith('/') ? args[0] : '/'
        const options = args[0]?.startsWith('/') ? [] : args
        const url = `http://${proxy}:${portOf(driver, 'web-80')}${target}`
        return (await run('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', ...options, url])).stdout
      }
      if (yes.length > 0) expect(await status(yes), JSON.stringify(condition)).toBe('410')
      if (no.length > 0) expect(await status(no), JSON.stringify(condition)).toBe('404')
    }
    expect(driver.counters.reloads).toBe(0)
  })

  test('take the requests that the reference says, in any table', async () => {
    const driver = lab.driver()
    const texts = fc.uniqueArray(fc.constantFrom('a', 'b', 'ab', 'a, b', ''), { minLength: 1, maxLength: 2 })
    const patterns = fc.constantFrom('^a', 'b$', '^(a|b)*$', '[^ab]', 'A').map((pattern) => [pattern])
    const named = fc.tuple(fc.constantFrom('header', 'cookie', 'query'), fc.constantFrom('x-a', 'q'), fc.boolean())
    const tested: fc.Arbitrary<RouteCondition> = fc.oneof(
      fc
        .tuple(named, fc.constantFrom('exact', 'prefix', 'ends-with', 'contains'), texts)
        .map(([[on, name, not], compare, values]) => ({ on, name, compare, values, not })),
      fc
        .tuple(named, patterns)
        .map(([[on, name, not], values]) => ({ on, name, compare: 'regex' as const, values, not })),
      fc
        .tuple(fc.constantFrom('ends-with', 'contains'), fc.constantFrom('a', ';', '/a'), fc.boolean())
        .map(([compare, value, not]) => ({ on: 'path' as const, compare, values: [value], not })),
      fc
        .tuple(fc.constantFrom('prefix', 'ends-with', 'contains'), fc.constantFrom('a', 'b.', '.a'), fc.boolean())
        .map(([compare, value, not]) => ({ on: 'host' as const, compare, values: [value], not })),
      fc.boolean().map((not) => ({ on: 'path' as const, compare: 'regex' as const, values: ['a/?a', ';'], not })),
    )
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
      tested,
    )
    const table = fc.array(fc.array(condition, { maxLength: 3 }), { minLength: 1, maxLength: codes.length })
    const request = fc.record<RoutedRequest>({
      method: fc.constantFrom('GET', 'POST', 'OPTIONS'),
      host: fc.option(fc.tuple(names, fc.constantFrom('', ':80', '.')).map((parts) => parts.join(''))),
      path: paths,
      query: fc.constantFrom(undefined, '', 'q', 'q=a', 'a=q&q=ab', 'q=%61&q=b=a'),
      headers: fc.array(
        fc.oneof(
          fc.tuple(fc.constantFrom('X-A', 'x-b'), fc.constantFrom('a', 'b', 'a, b', 'ab ,a', 'B', '')),
          fc.tuple(fc.constant('cookie'), fc.constantFrom('x-a=a', 'x-a=b; q=a', 'q=ab;x-a=', 'q')),
        ),
        { maxLength: 3 },
      ),
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
      { numRuns: 80 },
    )
    agent.destroy()
    expect(driver.counters.reloads).toBe(0)
  })

  test('change under load without a wrong answer or a reload', async () => {
    // Sweeps are as on a node. Pools that come and go in turn must not use up the slots before a sweep.
    const driver = lab.driver({ options: { sweepEveryMs: 1_000 } })
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
      // Each client makes at least one whole request between two changes.
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
