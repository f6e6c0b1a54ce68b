import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NodeForward, NodeRoute } from '@spout/model'
import { HTTP_METHODS } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { describe, expect, test } from 'vitest'
import { type Answer, recorder, says } from '../../testing/haproxy/recorder.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)

const member = await started(recorder(says(200)))
const judge = await started(recorder(says(200)))

type Authorizer = NonNullable<NodeForward['authorizer']>
const PLAIN: Authorizer = {
  ...{ pool: 2, method: null, host: null, path: null, pathPrefix: null },
  ...{ sendHeaders: ['*'], setHeaders: [], takeHeaders: [], cookies: 'never', signIn: null },
}

/** A listener whose route asks the judge. @returns what sends requests to it */
async function asking(
  change: Partial<Authorizer>,
  judgement: Answer,
  { driver = lab.driver(), forward = {}, ports = [judge.port] }: AskingOptions = {},
) {
  member.from(says(200, {}, 'served'))
  judge.from(judgement)
  const action: NodeForward = {
    ...{ type: 'forward', pools: [{ pool: 1, weight: 1 }], authorizer: { ...PLAIN, ...change } },
    ...forward,
  }
  const routes: readonly NodeRoute[] = [sampleRoute(1, action)]
  const pools = [[member.port], ports].map((all, at) =>
    samplePool(at + 1, { members: all.map((port) => memberAt({ name: `p${port}`, port })) }),
  )
  await put(driver, sampleEntry('web', [sampleService('web-80', { routes })], pools))
  const url = (path: string) => `http://${proxy}:${portOf(driver, 'web-80')}${path}`
  const curl = async (path: string, ...args: readonly string[]): Promise<string> =>
    (await run('curl', ['-s', '-m', '20', '-w', ' %{http_code}', ...args, url(path)])).stdout
  return { driver, curl, port: portOf(driver, 'web-80') }
}

interface AskingOptions {
  readonly driver?: HaproxyDriver
  readonly forward?: Partial<NodeForward>
  readonly ports?: readonly number[]
}

describe('a request of a route with an authorizer', () => {
  test('goes on with 2xx; the authorizer is asked as the route says, and the member gets the request whole', async () => {
    const { driver, curl } = await asking(
      {
        method: 'GET',
        host: 'auth.example',
        path: '/check?a=b',
        setHeaders: [{ name: 'x-from', value: 'spout; "a"' }],
      },
      says(204),
    )
    const args = ['-X', 'PUT', '-d', 'some=body', '-H', 'Host: shop.example:8080', '-H', 'Cookie: a=b; c=d']
    const forged = [
      '-H',
      'X-Real-IP: 1.2.3.4',
      '-H',
      'X_Real_IP: 1.2.3.4',
      '-H',
      'X-From: evil',
      '-H',
      'X-Spout-Mirror: b3',
    ]
    expect(await curl('/a%20b?q=1&r', ...args, ...forged)).toBe('served 200')
    const [question] = judge.seen()
    expect(question).toMatchObject({ method: 'GET', url: '/check?a=b' })
    expect(question!.headers).toMatchObject({
      host: 'auth.example',
      cookie: 'a=b; c=d',
      'x-from': 'spout; "a"',
      'x-original-method': 'PUT',
      'x-original-url': 'http://shop.example:8080/a%20b?q=1&r',
      'x-auth-request-redirect': '/a%20b?q=1&r',
      'x-forwarded-host': 'shop.example:8080',
      'x-forwarded-proto': 'http',
    })
    expect(question!.headers['x-real-ip']).toMatch(/^[\d.]+$/)
    expect(question!.headers['x-real-ip']).not.toBe('1.2.3.4')
    for (const none of ['x_real_ip', 'content-length', 'content-type-x', 'x-spout-mirror'])
      expect(question!.headers).not.toHaveProperty(none)
    expect(member.seen()).toMatchObject([{ method: 'PUT', url: '/a%20b?q=1&r', headers: { 'content-length': '9' } }])
    expect(driver.counters.reloads).toBe(0)
  })

  test('is asked about at its own method, host and path, below a prefix, with the headers that are named', async () => {
    const { curl } = await asking({ pathPrefix: '/auth/', sendHeaders: ['x-key'] }, says(200))
    const headers = ['-H', 'X-Key: k', '-H', 'Cookie: a=b', '-H', 'Authorization: Bearer t', '-H', 'Host: shop.example']
    expect(await curl('/a?q', '-d', 'x', ...headers)).toBe('served 200')
    const [question] = judge.seen()
    expect(question).toMatchObject({ method: 'POST', url: '/auth/a?q' })
    expect(question!.headers).toMatchObject({ host: 'shop.example', 'x-key': 'k', authorization: 'Bearer t' })
    expect(question!.headers).toMatchObject({ 'content-length': '0' })
    expect(question!.headers).not.toHaveProperty('cookie')
  })

  test.each([401, 403])('gets %d with what the authorizer says to it, and goes to no member', async (code) => {
    const headers = { 'WWW-Authenticate': 'Basic realm="a"', 'X-Secret': 's', 'Set-Cookie': 'a=b', 'Content-Length': 2 }
    const { curl } = await asking({ cookies: 'successes' }, says(code, headers, 'no'))
    const text = await curl('/', '-i')
    expect(text).toMatch(/\nno \d+$/)
    expect(text.toLowerCase()).toContain('www-authenticate: basic realm="a"')
    expect(text.toLowerCase()).not.toMatch(/x-secret|set-cookie/)
    expect(text).toMatch(new RegExp(`${code}$`))
    expect(member.seen()).toEqual([])
  })

  test('gets the cookies of a refusal where they always pass', async () => {
    const { curl } = await asking({ cookies: 'always' }, says(403, { 'Set-Cookie': 'a=b' }, 'no'))
    expect((await curl('/', '-i')).toLowerCase()).toContain('set-cookie: a=b')
  })

  // What Node.js hands to a server of requests.
  test.each(HTTP_METHODS.filter((method) => method !== 'CONNECT'))('is asked about with method %s', async (method) => {
    const { curl } = await asking({ method }, says(204))
    expect(await curl('/')).toBe('served 200')
    expect(judge.seen()).toMatchObject([{ method }])
  })

  test.each([
    ['answers 302', says(302, { location: 'http://evil.example/' })],
    ['answers 404', says(404)],
    ['answers 500', says(500)],
    ['closes the connection', ((request) => request.socket.destroy()) as Answer],
    ['says what is no HTTP', ((request) => request.socket.end('hello\r\n\r\n')) as Answer],
  ])('gets 500 when the authorizer %s', async (_, judgement) => {
    const { curl } = await asking({}, judgement)
    expect(await curl('/')).toMatch(/500$/)
    expect(member.seen()).toEqual([])
  })

  test('gets 500 when the authorizer has no member, or is not there', async () => {
    expect(await (await asking({}, says(200), { ports: [] })).curl('/')).toMatch(/500$/)
    expect(await (await asking({ pool: null }, says(200))).curl('/')).toMatch(/500$/)
    expect(await (await asking({ pool: 9 }, says(200))).curl('/')).toMatch(/500$/)
    expect(member.seen()).toEqual([])
  })

  test('brings the member headers of the answer, which no client can write', async () => {
    const answer = says(200, { 'X-User': 'alice', 'X-Other': 'o', Authorization: 'Bearer new' })
    const { curl } = await asking({ takeHeaders: ['x-user', 'x-groups', 'authorization'] }, answer)
    const forged = ['X-User: root', 'X_User: root', 'X-Groups: admins', 'x_groups: admins', 'Authorization: Basic old']
    expect(await curl('/', ...forged.flatMap((line) => ['-H', line]))).toBe('served 200')
    const { headers } = member.seen()[0]!
    expect(headers).toMatchObject({ 'x-user': 'alice', authorization: 'Bearer new' })
    for (const none of ['x_user', 'x-groups', 'x_groups', 'x-other']) expect(headers).not.toHaveProperty(none)
  })

  test('is sent to sign in instead of a 401, and comes back', async () => {
    const signIn = { scheme: 'https', host: null, port: null, path: '/oauth2/start?a=b' } as const
    const location = async (change: Partial<Authorizer>, status = 401) => {
      const { curl } = await asking(change, says(status, { 'Set-Cookie': ['a=b; Path=/', 'c=d'] }))
      const text = await curl(
        '/x y?q=ä&r'.replaceAll(' ', '%20').replaceAll('ä', '%C3%A4'),
        '-i',
        '-H',
        'Host: shop.example:8080',
      )
      // Lua's tables have no order.
      return text
        .split(/\r?\n/)
        .filter((line) => /^(?:HTTP|location|set-cookie)/i.test(line))
        .toSorted()
    }
    const asPath = { parameter: 'rd', as: 'path' } as const
    expect(await location({ signIn: { ...signIn, returnTo: asPath }, cookies: 'successes' })).toEqual([
      'HTTP/1.1 302 Moved Temporarily',
      'location: https://shop.example/oauth2/start?a=b&rd=%2Fx%2520y%3Fq%3D%25C3%25A4%26r',
      'set-cookie: a=b; Path=/',
      'set-cookie: c=d',
    ])
    const other = {
      scheme: 'http',
      host: 'in.example',
      port: 8443,
      path: '/',
      returnTo: { parameter: 'to', as: 'url' },
    } as const
    expect(await location({ signIn: other })).toEqual([
      'HTTP/1.1 302 Moved Temporarily',
      'location: http://in.example:8443/?to=http%3A%2F%2Fshop.example%3A8080%2Fx%2520y%3Fq%3D%25C3%25A4%26r',
    ])
    const { curl } = await asking({ signIn: { ...signIn, returnTo: asPath } }, says(401))
    expect(await curl(`/${'%20'.repeat(1_000)}`, '-i')).toMatch(/^location: https:\/\/[\d.:]+\/oauth2\/start\?a=b\r$/m)
    expect(await location({ signIn: { ...signIn, returnTo: null } }, 403)).toEqual(['HTTP/1.1 403 Forbidden'])
    expect(member.seen()).toEqual([])
  })

  test.each([
    ['never', 200, 0],
    ['successes', 200, 2],
    ['successes', 404, 0],
    ['always', 404, 2],
  ] as const)('has cookies of the authorizer in its answer: %s, code %d', async (cookies, code, count) => {
    const { curl } = await asking({ cookies }, says(200, { 'Set-Cookie': ['a=b', 'c=d'] }))
    member.from(says(code, { 'Set-Cookie': 'own=1' }))
    const text = await curl('/', '-i')
    expect(text.match(/^set-cookie: (?:a=b|c=d)/gim) ?? []).toHaveLength(count)
    expect(text).toMatch(/^set-cookie: own=1/im)
  })

  test('is asked about before filters change it; a preflight request that a filter answers is not', async () => {
    const filters: NodeForward['filters'] = [
      { type: 'rewrite', host: null, path: '/new', prefix: null },
      {
        ...{ type: 'cors', origins: ['https://a.example'], methods: ['GET'], headers: [], exposeHeaders: [] },
        ...{ credentials: false, maxAgeSeconds: 5 },
      },
    ]
    const { curl } = await asking({}, says(200), { forward: { filters } })
    expect(await curl('/old')).toBe('served 200')
    expect([judge.seen()[0]!.url, member.seen()[0]!.url]).toEqual(['/old', '/new'])
    judge.from(says(401))
    const origin = ['-X', 'OPTIONS', '-H', 'Origin: https://a.example']
    expect(await curl('/old', ...origin, '-H', 'Access-Control-Request-Method: GET')).toMatch(/204$/)
    expect(await curl('/old', ...origin)).toMatch(/401$/)
    expect(member.seen()).toHaveLength(1)
  })

  test('is copied to mirrors only after it was allowed', async () => {
    const mirrors = [{ pool: 2, percent: 100 }]
    const { curl } = await asking({ path: '/check' }, says(403), { forward: { mirrors } })
    expect(await curl('/a')).toMatch(/403$/)
    judge.from(says(200))
    expect(await curl('/b')).toBe('served 200')
    await waitFor(() => judge.seen().length === 2, { what: 'a copy' })
    expect(judge.seen().map(({ url }) => url)).toEqual(['/check', '/b'])
  })

  test('is asked about over HTTP/2, too', async () => {
    const { curl } = await asking({}, says(200))
    expect(await curl('/two', '--http2-prior-knowledge', '-d', 'x')).toBe('served 200')
    expect(judge.seen()[0]).toMatchObject({ method: 'POST', url: '/two' })
    judge.from(says(403))
    expect(await curl('/two', '--http2-prior-knowledge')).toMatch(/403$/)
  })
})

test.each([
  ['HTTP/1.1', []],
  ['HTTP/1.1 at once', ['-H', 'Expect:']],
  ['HTTP/2', ['--http2-prior-knowledge']],
] as const)('a client that is refused while it sends a large body gets its answer: %s', async (_, args) => {
  const file = join(lab.runDirectory, 'large')
  writeFileSync(file, Buffer.alloc(8_000_000))
  const filters: NodeForward['filters'] = [
    { type: 'response-headers', set: [{ name: 'x-member', value: 'yes' }], add: [], remove: [] },
  ]
  const answer = says(401, { 'WWW-Authenticate': 'Bearer', 'Content-Length': 5 }, 'no\n\na')
  const { curl } = await asking({}, answer, { forward: { filters } })
  const text = await curl('/upload', '-i', '--data-binary', `@${file}`, ...args)
  expect(text).toMatch(/no\n\na 401$/)
  expect(text).toMatch(/^www-authenticate: Bearer/im)
  expect(text).not.toMatch(/x-member/i)
  expect(member.seen()).toEqual([])
})

test('a changed authorizer needs no reload, and counts from the next request on', async () => {
  const { driver, curl } = await asking({ path: '/one' }, says(200))
  expect(await curl('/')).toBe('served 200')
  const next = await asking({ path: '/two' }, says(403), { driver })
  expect(await next.curl('/')).toMatch(/403$/)
  expect(judge.seen().map(({ url }) => url)).toEqual(['/two'])
  expect(driver.counters.reloads).toBe(0)
})

test('clients that go away while the authorizer is slow take nobody its room', async () => {
  const held: http.ServerResponse[] = []
  const { curl, port } = await asking({}, (_, response) => held.push(response))
  const clients = Array.from({ length: 300 }, () => {
    const socket = net.connect(port, proxy).on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    return socket
  })
  // There are at most so many questions at a time.
  await waitFor(() => held.length >= 256, { what: 'questions to be under way' })
  expect(await curl('/')).toMatch(/503$/)
  expect(held).toHaveLength(256)
  for (const client of clients) client.destroy()
  for (const response of held) response.destroy()
  judge.from(says(200))
  await waitFor(async () => (await curl('/')) === 'served 200', { what: 'room for a question' })
})
