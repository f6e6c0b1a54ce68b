import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type NodeRoute, type RouteCondition, type RouteFilter, routeFilter } from '@spout/model'
import { beforeAll, describe, expect, test } from 'vitest'
import { httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
const web: LabMember[] = []

beforeAll(async () => {
  for (const name of ['a', 'b']) web.push(await started(httpMember(name)))
})

const filtered = (...filters: readonly object[]): NodeRoute['action'] => ({
  type: 'forward',
  pools: [
    { pool: 1, weight: 1 },
    { pool: 2, weight: 1 },
  ],
  filters: filters.map((filter): RouteFilter => routeFilter.parse(filter)),
})
const plain: NodeRoute['action'] = { type: 'forward', pools: [{ pool: 1, weight: 1 }] }
const onPath = (value: string): RouteCondition => ({ on: 'path', compare: 'elements', values: [value], not: false })

const putRoutes = (driver: HaproxyDriver, routes: readonly NodeRoute[]) =>
  put(
    driver,
    sampleEntry(
      'web',
      [sampleService('web-80', { pool: 1, routes })],
      web.map((member, at) => samplePool(at + 1, { members: [memberAt(member)] })),
    ),
  )

interface Seen {
  readonly status: number
  /** Method and target as the member saw them. */
  readonly request: string | undefined
  /** Headers as the member saw them. */
  readonly headers: Readonly<Record<string, string>>
  /** Lines of the response's header, names in lower case. */
  readonly response: readonly (readonly [name: string, value: string])[]
}

async function curl(driver: HaproxyDriver, target: string, ...options: readonly string[]): Promise<Seen> {
  const url = `http://${proxy}:${portOf(driver, 'web-80')}${target}`
  const { stdout } = await run('curl', ['-s', '-i', '--path-as-is', ...options, url])
  const end = stdout.indexOf('\r\n\r\n')
  const [first = '', ...lines] = stdout.slice(0, end).split('\r\n')
  const response = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  const body = stdout.slice(end + 4)
  return {
    status: Number(first.split(' ')[1]),
    request: response.find(([name]) => name === 'x-request')?.[1],
    headers: body.startsWith('{') ? (JSON.parse(body) as Record<string, string>) : {},
    response,
  }
}

const valuesOf = ({ response }: Seen, wanted: string): readonly string[] =>
  response.filter(([name]) => name === wanted).map(([, value]) => value)

describe('filters', () => {
  test('remove, set and add headers of requests', async () => {
    const driver = lab.driver()
    const filter = {
      type: 'request-headers',
      remove: ['X-Secret'],
      set: [
        { name: 'x-env', value: 'it\'s; "prod" %[src] \\n : . é'.replace('é', 'e') },
        { name: 'user-agent', value: '' },
      ],
      add: [{ name: 'x-tag', value: 'new' }],
    }
    await putRoutes(driver, [sampleRoute(1, filtered(filter), [onPath('/f')]), sampleRoute(2, plain)])
    const sent = ['-H', 'X-Secret: 1', '-H', 'x-secret: 2', '-H', 'X-Env: dev', '-H', 'X-Tag: old']
    const { headers } = await curl(driver, '/f', ...sent)
    expect(headers).toMatchObject({ 'x-env': 'it\'s; "prod" %[src] \\n : . e', 'user-agent': '', 'x-tag': 'old, new' })
    expect(headers).not.toHaveProperty('x-secret')
    const other = await curl(driver, '/g', ...sent)
    expect(other.headers).toMatchObject({ 'x-secret': '1, 2', 'x-env': 'dev', 'x-tag': 'old' })
    expect(driver.counters.reloads).toBe(0)
  })

  test.each(['set', 'add'])('%s a header, or refuse a request that leaves no room for it', async (how) => {
    const driver = lab.driver()
    const headers = ['x-auth', 'x-more'].map((name) => ({ name, value: 'v'.repeat(1000) }))
    await putRoutes(driver, [sampleRoute(1, filtered({ type: 'request-headers', [how]: headers }))])
    const answers = new Set<number>()
    for (let length = 11_000; length <= 16_000; length += 250) {
      const { status, headers: seen } = await curl(driver, '/', '-H', `X-Long: ${'l'.repeat(length)}`)
      answers.add(status)
      if (status === 200) expect([seen['x-auth'], seen['x-more']]).toEqual(headers.map(({ value }) => value))
    }
    expect(answers).toContain(200)
    expect(answers).toContain(431)
  })

  test.each(['set', 'add'])('%s a header of a response, or answer 502 where there is no room for it', async (how) => {
    const driver = lab.driver()
    const headers = ['x-guard', 'x-more'].map((name) => ({ name, value: 'v'.repeat(1000) }))
    await putRoutes(driver, [sampleRoute(1, filtered({ type: 'response-headers', [how]: headers }))])
    const answers = new Set<number>()
    for (let length = 11_000; length <= 15_000; length += 250) {
      const seen = await curl(driver, `/long/${length}`)
      answers.add(seen.status)
      if (seen.status !== 200) continue
      for (const { name, value } of headers) expect(valuesOf(seen, name)).toEqual([value])
    }
    expect(answers).toEqual(new Set([200, 502]))
  })

  test('remove, set and add headers of responses', async () => {
    const driver = lab.driver()
    const filter = {
      type: 'response-headers',
      remove: ['x-request'],
      set: [{ name: 'X-Member', value: 'hidden' }],
      add: [
        { name: 'x-frame-options', value: 'DENY' },
        { name: 'set-cookie', value: 'a=b; Path=/' },
      ],
    }
    await putRoutes(driver, [sampleRoute(1, filtered(filter), [onPath('/login')]), sampleRoute(2, plain)])
    const seen = await curl(driver, '/login')
    expect(valuesOf(seen, 'x-member')).toEqual(['hidden'])
    expect(valuesOf(seen, 'x-request')).toEqual([])
    expect(valuesOf(seen, 'x-frame-options')).toEqual(['DENY'])
    expect(valuesOf(seen, 'set-cookie')).toHaveLength(3)
    expect(valuesOf(await curl(driver, '/'), 'x-member')).toEqual(['a'])
  })

  test.each<readonly [string, object, readonly (readonly [target: string, seen: string])[]]>([
    ['whole path', { path: '/new' }, [['/old/a?x=/y', 'GET /new?x=/y']]],
    [
      'prefix',
      { prefix: { from: '/old', to: '/new/place' } },
      [
        ['/old', 'GET /new/place'],
        ['/old/', 'GET /new/place/'],
        ['/old/a%20b?q', 'GET /new/place/a%20b?q'],
        ['/older/a', 'GET /older/a'],
      ],
    ],
    [
      'prefix by nothing',
      { prefix: { from: '/old/', to: '/' } },
      [
        ['/old', 'GET /'],
        ['/old/a', 'GET /a'],
        ['/old?x', 'GET /?x'],
      ],
    ],
    ['nothing by a prefix', { prefix: { from: '/', to: '/app' } }, [['/a?b', 'GET /app/a?b']]],
  ])('rewrite the path: %s', async (_what, change, rows) => {
    const driver = lab.driver()
    await putRoutes(driver, [sampleRoute(1, filtered({ type: 'rewrite', ...change }))])
    for (const [target, expected] of rows) expect((await curl(driver, target)).request).toBe(expected)
  })

  test('rewrite the host, and leave the path', async () => {
    const driver = lab.driver()
    await putRoutes(driver, [sampleRoute(1, filtered({ type: 'rewrite', host: 'inner.example' }))])
    const { headers, request } = await curl(driver, '/a?b', '-H', 'Host: outer.example')
    expect([headers['host'], request]).toEqual(['inner.example', 'GET /a?b'])
  })

  describe('of cross-origin requests', () => {
    const preflight = (origin: string, method = 'PUT', ...more: readonly string[]) => [
      ...['-X', 'OPTIONS', '-H', `Origin: ${origin}`, '-H', `Access-Control-Request-Method: ${method}`],
      ...more,
    ]
    const allow = 'access-control-allow-origin'

    test('answer preflight requests, and name the origin in responses', async () => {
      const driver = lab.driver()
      const cors = {
        type: 'cors',
        origins: ['https://shop.example', 'https://*.pages.example'],
        methods: ['GET', 'PUT'],
        headers: ['Content-Type', 'x-a'],
        exposeHeaders: ['x-member'],
        credentials: true,
        maxAgeSeconds: 60,
      }
      await putRoutes(driver, [sampleRoute(1, filtered(cors))])
      const asked = web.map(({ count }) => count())
      const first = await curl(driver, '/', ...preflight('https://shop.example'))
      expect(first.status).toBe(204)
      expect(first.response.filter(([name]) => name.startsWith('access-control')).sort()).toEqual([
        ['access-control-allow-credentials', 'true'],
        ['access-control-allow-headers', 'content-type, x-a'],
        ['access-control-allow-methods', 'GET, PUT'],
        [allow, 'https://shop.example'],
        ['access-control-expose-headers', 'x-member'],
        ['access-control-max-age', '60'],
      ])
      for (const [origin, allowed] of [
        ['https://a.pages.example', true],
        ['https://a.b.pages.example', true],
        ['https://pages.example', false],
        ['https://.pages.example', false],
        ['http://a.pages.example', false],
        ['https://shop.example.evil', false],
        ['https://evil-pages.example', false],
        ['null', false],
      ] as const) {
        const answer = await curl(driver, '/', ...preflight(origin))
        expect([origin, answer.status, valuesOf(answer, allow)]).toEqual([origin, 204, allowed ? [origin] : []])
      }
      expect(web.map(({ count }) => count())).toEqual(asked)

      const seen = await curl(driver, '/', '-H', 'Origin: https://shop.example')
      expect(valuesOf(seen, allow)).toEqual(['https://shop.example'])
      expect(valuesOf(seen, 'access-control-expose-headers')).toEqual(['x-member'])
      expect(valuesOf(seen, 'access-control-allow-credentials')).toEqual(['true'])
      expect(valuesOf(seen, 'vary')).toEqual(['Origin'])
      const strange = await curl(driver, '/', '-H', 'Origin: https://evil.example')
      expect([strange.status, valuesOf(strange, allow), valuesOf(strange, 'vary')]).toEqual([200, [], ['Origin']])
      expect((await curl(driver, '/', '-X', 'OPTIONS')).request).toBe('OPTIONS /')
    })

    test('allow everybody where all is open', async () => {
      const driver = lab.driver()
      await putRoutes(driver, [
        sampleRoute(1, filtered({ type: 'cors', origins: ['*'], methods: ['*'], headers: ['*'] })),
      ])
      const more = ['-H', 'Access-Control-Request-Headers: x-one, x-two']
      const answer = await curl(driver, '/', ...preflight('https://any.example', 'PATCH', ...more))
      expect(valuesOf(answer, allow)).toEqual(['*'])
      expect(valuesOf(answer, 'access-control-allow-methods')).toEqual(['PATCH'])
      expect(valuesOf(answer, 'access-control-allow-headers')).toEqual(['x-one, x-two'])
      expect(valuesOf(answer, 'access-control-allow-credentials')).toEqual([])
      const seen = await curl(driver, '/', '-H', 'Origin: https://any.example')
      expect([valuesOf(seen, allow), valuesOf(seen, 'vary')]).toEqual([['*'], []])
    })
  })

  test('of one route go together, and change without a reload', async () => {
    const driver = lab.driver()
    const all = (tag: string) =>
      filtered(
        { type: 'request-headers', set: [{ name: 'x-tag', value: tag }] },
        { type: 'response-headers', set: [{ name: 'x-out', value: tag }] },
        { type: 'rewrite', host: `${tag}.example`, prefix: { from: '/a', to: `/${tag}` } },
      )
    for (const tag of ['one', 'two']) {
      await putRoutes(driver, [sampleRoute(1, all(tag), [onPath('/a')]), sampleRoute(2, plain)])
      const seen = await curl(driver, '/a/b')
      expect(seen.headers).toMatchObject({ 'x-tag': tag, host: `${tag}.example` })
      expect([seen.request, valuesOf(seen, 'x-out')]).toEqual([`GET /${tag}/b`, [tag]])
      const others = await Promise.all(Array.from({ length: 40 }, () => curl(driver, '/a')))
      expect(new Set(others.flatMap((one) => valuesOf(one, 'x-member')))).toEqual(new Set(['a', 'b']))
      expect(valuesOf(await curl(driver, '/'), 'x-out')).toEqual([])
    }
    await putRoutes(driver, [sampleRoute(1, plain)])
    expect((await curl(driver, '/a/b')).request).toBe('GET /a/b')
    expect(driver.counters.reloads).toBe(0)
  })
})

describe('a share of the requests of a route', () => {
  const shared = (change: object): NodeRoute['action'] => ({
    ...({ type: 'forward', pools: [{ pool: 1, weight: 1 }] } as const),
    ...change,
  })
  const headers = (name: string) => [
    routeFilter.parse({ type: 'request-headers', set: [{ name, value: 'own' }] }),
    routeFilter.parse({ type: 'response-headers', set: [{ name, value: 'own' }] }),
    routeFilter.parse({ type: 'rewrite', host: `${name}.example` }),
  ]
  async function manyOf(driver: HaproxyDriver, count = 16) {
    const seen: Seen[] = []
    for (let at = 0; at < count; at++) seen.push(await curl(driver, '/'))
    return seen
  }

  test('is answered with a code in its proportion, also of a route with filters and a limit of the whole request', async () => {
    const driver = lab.driver()
    const answered = { code: 500, weight: 1 }
    const further = {
      filters: [routeFilter.parse({ type: 'request-headers', set: [{ name: 'x-a', value: '1' }] })],
      timeouts: { requestMs: 20_000, backendRequestMs: null },
    }
    for (const change of [{ answered }, { answered, ...further }]) {
      await putRoutes(driver, [sampleRoute(1, shared(change))])
      const statuses = (await manyOf(driver, 24)).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set([200, 500]))
    }
    expect(driver.counters.reloads).toBe(0)
  })

  test('goes to one pool, and has filters of its own behind those of the route', async () => {
    const driver = lab.driver()
    const pools = [
      { pool: 1, weight: 1, filters: headers('x-one') },
      { pool: 2, weight: 1 },
    ]
    const filters = [routeFilter.parse({ type: 'request-headers', set: [{ name: 'x-all', value: 'all' }] })]
    for (const change of [{ pools }, { pools, filters }]) {
      await putRoutes(driver, [sampleRoute(1, shared(change))])
      const all = await manyOf(driver)
      const one = all.filter(({ headers }) => headers['x-one'] === 'own')
      const other = all.filter(({ headers }) => headers['x-one'] === undefined)
      expect([one.length > 0, other.length > 0]).toEqual([true, true])
      expect(new Set(one.map(({ headers }) => headers['host']))).toEqual(new Set(['x-one.example']))
      expect(new Set(one.flatMap((seen) => valuesOf(seen, 'x-one')))).toEqual(new Set(['own']))
      expect(other.flatMap((seen) => valuesOf(seen, 'x-one'))).toEqual([])
      expect(new Set(all.map(({ headers }) => headers['x-all']))).toEqual(
        new Set([change === undefined || !('filters' in change) ? undefined : 'all']),
      )
    }
    await putRoutes(driver, [sampleRoute(1, shared({ pools: pools.slice(0, 1) }))])
    expect((await curl(driver, '/')).headers).toMatchObject({ 'x-one': 'own' })
    expect(driver.counters.reloads).toBe(0)
  })
})

test.each([
  ['/old', '/new', '/old/a?q=/old', '/new/a?q=/old'],
  ['/old', '/new', '/old', '/new'],
  ['/old', '/new/', '/old/', '/new/'],
  ['/old', '/', '/old/a', '/a'],
  ['/old', '/', '/old?q', '/?q'],
  ['/', '/new', '/a', '/new/a'],
])('a redirect replaces %s by %s in %s', async (from, to, target, path) => {
  const driver = lab.driver()
  const action = { type: 'redirect', code: 302, scheme: null, host: 'x.example', port: null, path: null } as const
  await putRoutes(driver, [sampleRoute(1, { ...action, pathPrefix: null, prefix: { from, to } }, [onPath(from)])])
  const seen = await curl(driver, target)
  expect([seen.status, valuesOf(seen, 'location')]).toEqual([302, [`http://x.example${path}`]])
  expect(driver.counters.reloads).toBe(0)
})
