import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { NodeRoute, RouteCondition } from '@spout/model'
import { HTTP_METHODS } from '@spout/model'
import { REDIRECT_CODES, RESPONSE_CODES } from '@spout/model/route-words'
import { beforeAll, expect, test } from 'vitest'
import { httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'

// Every word of a route, each in a route of its own, as curl meets them.
const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)

/** A request: what stands behind the route's own path, and more arguments of curl. */
interface Sent {
  readonly path?: string
  readonly more?: readonly string[]
}
interface Case {
  readonly condition: (path: string) => RouteCondition
  readonly fits: Sent
  readonly others: Sent
}

const headed = (line: string): Sent => ({ more: ['-H', line] })
const host = (name: string): Sent => headed(`Host: ${name}`)
const own = { not: false } as const

const CASES: Readonly<Record<string, Case>> = {
  'host, exact': {
    condition: () => ({ on: 'host', compare: 'exact', values: ['a.test'], ...own }),
    ...{ fits: host('A.test:8080'), others: host('b.a.test') },
  },
  'host, one label': {
    condition: () => ({ on: 'host', compare: 'one-label', values: ['a.test'], ...own }),
    ...{ fits: host('b.a.test'), others: host('c.b.a.test') },
  },
  'host, any labels': {
    condition: () => ({ on: 'host', compare: 'any-labels', values: ['a.test'], ...own }),
    ...{ fits: host('c.b.a.test'), others: host('a.test') },
  },
  'host, prefix': {
    condition: () => ({ on: 'host', compare: 'prefix', values: ['shop'], ...own }),
    ...{ fits: host('shopping.test'), others: host('a.shop') },
  },
  'host, end': {
    condition: () => ({ on: 'host', compare: 'ends-with', values: ['test'], ...own }),
    ...{ fits: host('a.mytest'), others: host('test.a') },
  },
  'host, part': {
    condition: () => ({ on: 'host', compare: 'contains', values: ['sho'], ...own }),
    ...{ fits: host('a.shop'), others: host('a.s-hop') },
  },
  'host, expression': {
    condition: () => ({ on: 'host', compare: 'regex', values: ['^a[0-9]+\\.test$'], ...own }),
    ...{ fits: host('A42.test'), others: host('a.test') },
  },
  'path, exact': {
    condition: (path) => ({ on: 'path', compare: 'exact', values: [`${path}/x`], ...own }),
    ...{ fits: { path: '/x?y' }, others: { path: '/x/' } },
  },
  'path, elements': {
    condition: (path) => ({ on: 'path', compare: 'elements', values: [`${path}/x`], ...own }),
    ...{ fits: { path: '/x/y' }, others: { path: '/xy' } },
  },
  'path, prefix': {
    condition: (path) => ({ on: 'path', compare: 'prefix', values: [`${path}/x`], ...own }),
    ...{ fits: { path: '/xy' }, others: { path: '/y' } },
  },
  'path, end': {
    condition: () => ({ on: 'path', compare: 'ends-with', values: ['.png'], ...own }),
    ...{ fits: { path: '/a.png?x' }, others: { path: '/a.png/' } },
  },
  'path, part': {
    condition: () => ({ on: 'path', compare: 'contains', values: ['img'], ...own }),
    ...{ fits: { path: '/an-img/a' }, others: { path: '/a?img' } },
  },
  'path, expression': {
    condition: () => ({ on: 'path', compare: 'regex', values: ['/v[12]/'], ...own }),
    ...{ fits: { path: '/v2/a' }, others: { path: '/V2/a' } },
  },
  'header, exact': {
    condition: () => ({ on: 'header', name: 'x-a', compare: 'exact', values: ['one'], ...own }),
    ...{ fits: headed('X-A: one'), others: headed('X-A: One') },
  },
  'header, inverted': {
    condition: () => ({ on: 'header', name: 'x-a', compare: 'exact', values: ['one'], not: true }),
    ...{ fits: headed('X-A: two'), others: headed('X-A: one') },
  },
  'header, prefix': {
    condition: () => ({ on: 'header', name: 'x-a', compare: 'prefix', values: ['on'], ...own }),
    ...{ fits: headed('X-A: one'), others: headed('X-A: not on') },
  },
  'header, end': {
    condition: () => ({ on: 'header', name: 'x-a', compare: 'ends-with', values: ['ne'], ...own }),
    ...{ fits: headed('X-A: one'), others: headed('X-A: next') },
  },
  'header, part': {
    condition: () => ({ on: 'header', name: 'x-a', compare: 'contains', values: ['n'], ...own }),
    ...{ fits: headed('X-A: one'), others: headed('X-A: two') },
  },
  'header, expression': {
    condition: () => ({ on: 'header', name: 'x-a', compare: 'regex', values: ['^(one|two)$'], ...own }),
    ...{ fits: headed('X-A: two'), others: headed('X-A: three') },
  },
  'cookie, exact': {
    condition: () => ({ on: 'cookie', name: 'c', compare: 'exact', values: ['one'], ...own }),
    ...{ fits: headed('Cookie: b=two; c=one'), others: headed('Cookie: b=one; c=two') },
  },
  'cookie, inverted': {
    condition: () => ({ on: 'cookie', name: 'c', compare: 'exact', values: ['one'], not: true }),
    ...{ fits: headed('Cookie: b=one'), others: headed('Cookie: c=one') },
  },
  'cookie, prefix': {
    condition: () => ({ on: 'cookie', name: 'c', compare: 'prefix', values: ['on'], ...own }),
    ...{ fits: headed('Cookie: c=one'), others: headed('Cookie: c=two') },
  },
  'cookie, end': {
    condition: () => ({ on: 'cookie', name: 'c', compare: 'ends-with', values: ['ne'], ...own }),
    ...{ fits: headed('Cookie: c=one'), others: headed('Cookie: c=next') },
  },
  'cookie, part': {
    condition: () => ({ on: 'cookie', name: 'c', compare: 'contains', values: ['n'], ...own }),
    ...{ fits: headed('Cookie: c=one'), others: headed('Cookie: c=two; n=n') },
  },
  'cookie, expression': {
    condition: () => ({ on: 'cookie', name: 'c', compare: 'regex', values: ['^[0-9]+$'], ...own }),
    ...{ fits: headed('Cookie: c=42'), others: headed('Cookie: c=4two') },
  },
  'query, exact': {
    condition: () => ({ on: 'query', name: 'q', compare: 'exact', values: ['one'], ...own }),
    ...{ fits: { path: '?a=b&q=one' }, others: { path: '?q=ones' } },
  },
  'query, inverted': {
    condition: () => ({ on: 'query', name: 'q', compare: 'exact', values: ['one'], not: true }),
    ...{ fits: { path: '?p=one' }, others: { path: '?q=one' } },
  },
  'query, prefix': {
    condition: () => ({ on: 'query', name: 'q', compare: 'prefix', values: ['on'], ...own }),
    ...{ fits: { path: '?q=one' }, others: { path: '?q=two' } },
  },
  'query, end': {
    condition: () => ({ on: 'query', name: 'q', compare: 'ends-with', values: ['ne'], ...own }),
    ...{ fits: { path: '?q=one' }, others: { path: '?q=next' } },
  },
  'query, part': {
    condition: () => ({ on: 'query', name: 'q', compare: 'contains', values: ['n'], ...own }),
    ...{ fits: { path: '?q=one' }, others: { path: '?q=two&n' } },
  },
  'query, expression': {
    condition: () => ({ on: 'query', name: 'q', compare: 'regex', values: ['^[0-9]+$'], ...own }),
    ...{ fits: { path: '?q=42' }, others: { path: '?q=4two' } },
  },
  source: {
    condition: () => ({ on: 'source', values: ['198.18.0.0/15'], ...own }),
    ...{ fits: {}, others: { more: ['--request-target', '/elsewhere'] } },
  },
}

let web: LabMember
beforeAll(async () => {
  web = await started(httpMember('web'))
})

const pathOf = (name: string | number): string => `/${String(name).replaceAll(/[^a-z0-9]+/gi, '-')}`
const gone: NodeRoute['action'] = { type: 'respond', code: 410 }

interface Wish {
  readonly action: NodeRoute['action']
  readonly condition?: RouteCondition
}

/** Serves routes by name, each for its own path; other requests get 200. @returns a function that asks with curl */
async function serving(routes: readonly (readonly [string | number, Wish])[]) {
  const driver = lab.driver()
  const rows = routes.map(([name, { action, condition }], at) => {
    const within: RouteCondition = { on: 'path', compare: 'elements', values: [pathOf(name)], ...own }
    return sampleRoute(at + 1, action, condition === undefined ? [within] : [within, condition])
  })
  const pools = [samplePool(1, { members: [memberAt(web)] })]
  await put(driver, sampleEntry('web', [sampleService('web-80', { pool: 1, routes: rows })], pools))
  const form = ['-s', '-g', '-m', '10', '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}']
  return async (name: string | number, { path = '', more = [] }: Sent = {}): Promise<string> => {
    const url = `http://${proxy}:${portOf(driver, 'web-80')}${pathOf(name)}${path}`
    return (await run('curl', [...form, ...more, url])).stdout.trim()
  }
}

/** Compares the answers with the expected ones, by name. */
async function compare<Name extends string | number>(
  names: readonly Name[],
  asked: (name: Name) => Promise<readonly string[]>,
  wanted: (name: Name) => readonly string[],
): Promise<void> {
  const answers: (readonly [Name, readonly string[]])[] = []
  for (const name of names) answers.push([name, await asked(name)])
  expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(names.map((name) => [name, wanted(name)])))
}

test('each way to compare takes what fits, and nothing else', async () => {
  const curl = await serving(
    Object.entries(CASES).map(([name, { condition }]) => [name, { action: gone, condition: condition(pathOf(name)) }]),
  )
  await compare(
    Object.keys(CASES),
    (name) => Promise.all([curl(name, CASES[name]!.fits), curl(name, CASES[name]!.others)]),
    () => ['410', '200'],
  )
})

/** The methods that curl can send with a path. */
const METHODS = HTTP_METHODS.filter((method) => method !== 'CONNECT')
const asking = (method: string): Sent => ({ more: method === 'HEAD' ? ['-I'] : ['-X', method] })

test('each method is a condition', async () => {
  const curl = await serving(
    METHODS.map((method) => [method, { action: gone, condition: { on: 'method', values: [method], ...own } }]),
  )
  await compare(
    METHODS,
    (name) => Promise.all([curl(name, asking(name)), curl(name, asking(name === 'GET' ? 'DELETE' : 'GET'))]),
    () => ['410', '200'],
  )
})

test('CONNECT, which has no path, is a condition', async () => {
  const driver = lab.driver()
  const routes = [sampleRoute(1, gone, [{ on: 'method', values: ['CONNECT'], ...own }])]
  await put(driver, sampleEntry('web', [sampleService('web-80', { routes })], []))
  const authority = ['-X', 'CONNECT', '--request-target', 'a.test:443', '-H', 'Host: a.test:443']
  const args = ['-s', '-m', '10', '-o', '/dev/null', '-w', '%{http_code}', ...authority]
  expect((await run('curl', [...args, `http://${proxy}:${portOf(driver, 'web-80')}`])).stdout).toBe('410')
})

test('each code is an answer of a route, and of a share of its requests', async () => {
  const share = (code: number): NodeRoute['action'] => ({
    ...{ type: 'forward', pools: [{ pool: 1, weight: 0 }], answered: { code, weight: 1 } },
  })
  const curl = await serving([
    ...RESPONSE_CODES.map((code) => [code, { action: { type: 'respond', code } }] as const),
    ...RESPONSE_CODES.map((code) => [`share-${code}`, { action: share(code) }] as const),
  ])
  await compare(
    RESPONSE_CODES,
    async (code) => [await curl(code), await curl(`share-${code}`)],
    (code) => [String(code), String(code)],
  )
})

test('each code of redirects leads to the other scheme and path', async () => {
  const schemes = ['http', 'https'] as const
  const parts = { host: 'new.test', port: null, path: null, pathPrefix: null } as const
  const curl = await serving(
    REDIRECT_CODES.flatMap((code) =>
      schemes.map((scheme) => {
        const prefix = { from: pathOf(`${scheme}-${code}`), to: '/moved' }
        return [`${scheme}-${code}`, { action: { type: 'redirect', code, scheme, ...parts, prefix } }] as const
      }),
    ),
  )
  await compare(
    REDIRECT_CODES,
    (code) => Promise.all(schemes.map((scheme) => curl(`${scheme}-${code}`, { path: '/a?b' }))),
    (code) => schemes.map((scheme) => `${code} ${scheme}://new.test/moved/a?b`),
  )
})

test('each method of cross-origin requests is allowed alone', async () => {
  const cors = { origins: ['*'], headers: [], exposeHeaders: ['*'], credentials: false, maxAgeSeconds: 5 }
  const curl = await serving(
    METHODS.map((method) => [
      method,
      {
        action: {
          type: 'forward',
          pools: [{ pool: 1, weight: 1 }],
          filters: [{ type: 'cors', methods: [method], ...cors }],
        },
      },
    ]),
  )
  const preflight = ['-D', '-', '-X', 'OPTIONS', '-H', 'Origin: https://a.test', '-H']
  await compare(
    METHODS,
    async (method) => {
      const text = await curl(method, { more: [...preflight, `Access-Control-Request-Method: ${method}`] })
      const answer = await curl(method, { more: ['-D', '-', '-H', 'Origin: https://a.test'] })
      return [
        /^access-control-allow-methods: (.*?)\r?$/im.exec(text)?.[1] ?? text,
        /^access-control-expose-headers: (.*?)\r?$/im.exec(answer)?.[1] ?? answer,
      ]
    },
    (method) => [method, '*'],
  )
})
