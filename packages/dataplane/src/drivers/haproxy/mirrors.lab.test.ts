import { execFile } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { promisify } from 'node:util'
import type { NodeForward, NodeRoute, Service } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { describe, expect, test } from 'vitest'
import { MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'
import { mirrorShare } from './place/mirror-share.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

type Answer = (request: Seen, response: http.ServerResponse) => void

/** Keeps what it saw. @param answer default: 200 with its name */
async function recorder(name: string, answer: Answer = (_, response) => response.end(name)) {
  let seen: Seen[] = []
  const server = http.createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body }
      seen.push(one)
      answer(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const forget = () => {
    seen = []
  }
  return { name, port: (server.address() as net.AddressInfo).port, seen: () => seen, forget, close }
}

const [real, mirror, other] = [
  await started(recorder('real')),
  await started(recorder('mirror')),
  await started(recorder('other')),
]

type Mirrors = NonNullable<NodeForward['mirrors']>

async function putMirrors(
  driver: HaproxyDriver,
  mirrors: Mirrors | undefined,
  ports: readonly number[] = [mirror.port, other.port],
  change: { readonly forward?: Partial<NodeForward>; readonly service?: Partial<Service> } = {},
): Promise<void> {
  for (const one of [real, mirror, other]) one.forget()
  const action: NodeForward = {
    ...{ type: 'forward', pools: [{ pool: 1, weight: 1 }], ...(mirrors && { mirrors }) },
    ...change.forward,
  }
  const routes: readonly NodeRoute[] = [sampleRoute(1, action)]
  const pools = [real.port, ...ports].map((port, at) =>
    samplePool(at + 1, { members: [memberAt({ name: `p${at}`, port })] }),
  )
  await put(driver, sampleEntry('web', [sampleService('web-80', { routes, ...change.service })], pools))
}

const ALL: Mirrors = [{ pool: 2, percent: 100 }]

const curl = async (driver: HaproxyDriver, path: string, ...args: readonly string[]): Promise<string> => {
  const url = `http://${proxy}:${portOf(driver, 'web-80')}${path}`
  const { stdout } = await run('curl', ['-s', '-m', '20', '-w', ' %{http_code}', ...args, url])
  return stdout
}

const copies = (count: number, of = mirror) =>
  waitFor(() => of.seen().length >= count, { what: `${count} copies at ${of.name}` })

describe('a mirror', () => {
  test('gets method, path, headers and body of each request, and what it answers goes nowhere', async () => {
    const driver = lab.driver()
    await putMirrors(driver, ALL)
    const headers = ['-H', 'Host: shop.example:8080', '-H', 'X-Two: a', '-H', 'X-Two: b', '-H', 'X-Spout-Mirror: b3']
    expect(await curl(driver, '/a%20b?q=1&r', '-X', 'PUT', '-d', 'some=body', ...headers)).toBe('real 200')
    await copies(1)
    const [original, copy] = [real.seen()[0]!, mirror.seen()[0]!]
    expect(copy).toMatchObject({ method: 'PUT', url: '/a%20b?q=1&r', body: 'some=body' })
    expect(copy.headers).toMatchObject({ host: 'shop.example:8080', 'x-two': 'a, b', 'content-length': '9' })
    const { connection: _, 'x-spout-mirror': _own, ...sent } = original.headers
    const { connection: _closed, 'x-spout-mirrored': mark, ...copied } = copy.headers
    expect([copied, mark]).toEqual([sent, '1'])
    expect(other.seen()).toEqual([])
    expect(driver.counters.reloads).toBe(0)
  })

  test('gets what a member gets: changed by filters, with the address of the client', async () => {
    const driver = lab.driver()
    const edits = { set: [{ name: 'x-env', value: 'prod' }], add: [], remove: ['x-debug'] }
    const filters: NodeForward['filters'] = [
      { type: 'request-headers', ...edits },
      { type: 'rewrite', host: null, path: '/new', prefix: null },
    ]
    await putMirrors(driver, ALL, undefined, {
      forward: { filters },
      service: { insertHeaders: ['x-forwarded-for'] },
    })
    expect(await curl(driver, '/old', '-H', 'X-Debug: 1')).toBe('real 200')
    await copies(1)
    const copy = mirror.seen()[0]!
    expect(copy).toMatchObject({ method: 'GET', url: '/new', body: '' })
    expect(copy.headers).toMatchObject({
      'x-env': 'prod',
      'x-forwarded-for': real.seen()[0]!.headers['x-forwarded-for'],
    })
    expect(copy.headers).not.toHaveProperty('x-debug')
    expect(copy.headers).not.toHaveProperty('content-length')
  })

  test('gets HTTP/2 requests, too, with and without a body', async () => {
    const driver = lab.driver()
    await putMirrors(driver, ALL)
    expect(await curl(driver, '/get', '--http2-prior-knowledge')).toBe('real 200')
    expect(await curl(driver, '/post', '--http2-prior-knowledge', '-d', 'hello')).toBe('real 200')
    await copies(2)
    expect(mirror.seen()).toMatchObject([
      { method: 'GET', url: '/get', headers: { host: real.seen()[0]!.headers.host } },
      { method: 'POST', url: '/post', body: 'hello' },
    ])
  })

  test('gets a share of the requests, each mirror its own; a changed share needs no reload', async () => {
    const driver = lab.driver()
    const requests = 400
    /** Counts the copies of each mirror, and the copies that were not made because too many were under way. */
    const counted = async (mirrors: Mirrors): Promise<readonly [half: number, tenth: number, notMade: number]> => {
      const before = (await driver.mirrors(7))?.notMade ?? 0
      await putMirrors(driver, mirrors)
      const url = `http://${proxy}:${portOf(driver, 'web-80')}/[1-${requests}]`
      await run('curl', ['-s', '-o', '/dev/null', url])
      expect(real.seen()).toHaveLength(requests)
      await waitFor(async () => (await driver.mirrors(7))?.current === 0, { what: 'no copy to be under way' })
      return [mirror.seen().length, other.seen().length, (await driver.mirrors(7))!.notMade - before]
    }
    expect(await counted([{ pool: 2, percent: 0 }])).toEqual([0, 0, 0])
    const [all, none, left] = await counted([{ pool: 2, percent: 100 }])
    expect([all + left, none]).toEqual([requests, 0])
    const [half, tenth, less] = await counted([
      { pool: 2, percent: 50 },
      { pool: 3, percent: 10 },
    ])
    // Within six standard deviations.
    expect(half).toBeLessThan(260)
    expect(half + less).toBeGreaterThan(140)
    expect(tenth).toBeLessThan(76)
    expect(tenth + less).toBeGreaterThan(4)
    expect(driver.counters.reloads).toBe(0)
  })
})

describe('a client', () => {
  /** Ports of mirrors that do harm. */
  async function harmful(what: 'dead' | 'silent' | 'resetting' | 'endless'): Promise<number> {
    if (what === 'dead') {
      const closed = await recorder('closed')
      closed.close()
      return closed.port
    }
    if (what === 'endless') {
      const endless = recorder('endless', (_, response) => {
        const more = () => {
          while (response.write(Buffer.alloc(65_536)));
        }
        response.on('drain', more)
        more()
      })
      return (await started(endless)).port
    }
    const sockets = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      if (what === 'resetting') socket.once('data', () => socket.resetAndDestroy())
    })
    server.listen(0, MEMBER_ADDRESS)
    await once(server, 'listening')
    const close = () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
    await started(Promise.resolve({ close }))
    return (server.address() as net.AddressInfo).port
  }

  test.each(['dead', 'silent', 'resetting', 'endless'] as const)(
    'gets its answers where a mirror is %s',
    async (what) => {
      const driver = lab.driver()
      await putMirrors(driver, ALL, [await harmful(what)])
      const url = `http://${proxy}:${portOf(driver, 'web-80')}/[1-100]`
      const { stdout } = await run('curl', ['-s', '-m', '60', '-d', 'x', '-o', '/dev/null', '-w', '%{http_code} ', url])
      expect(stdout.trim().split(' ')).toEqual(Array.from({ length: 100 }, () => '200'))
      expect(real.seen()).toHaveLength(100)
      const { current, most, notMade } = (await driver.mirrors(7))!
      expect(current).toBeLessThanOrEqual(most)
      // A silent mirror reaches its limit. Further copies are not made, and are counted.
      if (what === 'silent') {
        expect(current).toBeLessThanOrEqual(32)
        expect(notMade).toBeGreaterThan(0)
      }
    },
  )

  test('gets its answers where a mirror has no member, or is gone; the other mirror its copies', async () => {
    const driver = lab.driver()
    const mirrors: Mirrors = [
      { pool: null, percent: 100 },
      { pool: 9, percent: 100 },
      { pool: 3, percent: 100 },
    ]
    await putMirrors(driver, mirrors)
    expect(await curl(driver, '/')).toBe('real 200')
    await copies(1, other)
    expect(mirror.seen()).toEqual([])
  })

  test('uploads what it likes: bodies beyond one buffer, and of no told length, are not copied, and counted', async () => {
    const driver = lab.driver()
    await putMirrors(driver, ALL)
    const large = 'x'.repeat(100_000)
    const fits = 'y'.repeat(14_000)
    const post = (body: string, ...args: readonly string[]) => curl(driver, '/', '-d', body, ...args)
    expect(await post(large)).toBe('real 200')
    expect(await post('told nowhere', '-H', 'Transfer-Encoding: chunked')).toBe('real 200')
    // The long header leaves no room for the body.
    expect(await post(fits, '-H', `X-Long: ${'z'.repeat(4_000)}`)).toBe('real 200')
    expect((await driver.mirrors(7))?.notMade).toBe(3)
    expect(await post(fits)).toBe('real 200')
    await copies(1)
    expect(real.seen().map(({ body }) => body.length)).toEqual([large.length, 12, fits.length, fits.length])
    expect(mirror.seen().map(({ body }) => body)).toEqual([fits])
  })

  test('may pause while it sends a body that is copied', async () => {
    const driver = lab.driver()
    await putMirrors(driver, ALL)
    const socket = net.connect(portOf(driver, 'web-80'), proxy)
    socket.setEncoding('latin1')
    let answer = ''
    socket.on('data', (text) => {
      answer += text
    })
    socket.write('POST /slow HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\nfirst')
    // There is no event to wait for. But the proxy has read the first half once it has answered another request.
    expect(await curl(driver, '/other')).toBe('real 200')
    socket.write('later')
    await waitFor(() => answer.includes('real'), { what: 'the answer' })
    socket.destroy()
    await copies(2)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(mirror.seen().find(({ url }) => url === '/slow')?.body).toBe('firstlater')
  })

  test('can upgrade its connection, which is not copied', async () => {
    const driver = lab.driver()
    await putMirrors(driver, ALL)
    const headers = ['-H', 'Connection: upgrade', '-H', 'Upgrade: echo']
    expect(await curl(driver, '/', ...headers)).toBe('real 200')
    expect((await driver.mirrors(7))?.notMade).toBe(1)
    expect(mirror.seen()).toEqual([])
  })
})

test('a mirror that leads back to the listener gets one copy, which is not copied again', async () => {
  const driver = lab.driver()
  await putMirrors(driver, ALL)
  const own = portOf(driver, 'web-80')
  const relay = net.createServer()
  relay.on('connection', (socket) => {
    const there = net.connect(own, proxy)
    for (const one of [socket, there]) one.on('error', () => [socket, there].map((each) => each.destroy()))
    socket.pipe(there).pipe(socket)
  })
  relay.listen(0, MEMBER_ADDRESS)
  await once(relay, 'listening')
  await started(Promise.resolve({ close: () => relay.close() }))
  await putMirrors(driver, ALL, [(relay.address() as net.AddressInfo).port])
  expect(await curl(driver, '/round')).toBe('real 200')
  await waitFor(() => real.seen().length === 2, { what: 'the copy to come around' })
  await waitFor(async () => (await driver.mirrors(7))?.current === 0, { what: 'no copy to be under way' })
  expect(real.seen()).toMatchObject([{ url: '/round' }, { url: '/round', headers: { 'x-spout-mirrored': '1' } }])
})

test('copies that were not made are a figure of the node, and no network is over its share for them', async () => {
  const driver = lab.driver()
  await putMirrors(driver, ALL)
  const shares = mirrorShare({
    places: (domain) => driver.placesOf(domain),
    mirrors: (...of) => driver.mirrors(...of),
  })
  const share = () => shares.read(7)
  expect(await share()).toEqual([{ share: 'mirrors', limit: 128, used: 0, refused: 0, isOver: false }])
  expect(await curl(driver, '/', '-H', 'Transfer-Encoding: chunked', '-d', 'x')).toBe('real 200')
  expect(await share()).toMatchObject([{ refused: 1 }])
  expect(await shares.read(8)).toEqual([])
})
