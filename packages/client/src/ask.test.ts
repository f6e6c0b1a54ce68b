import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { freePort } from '@spout/testkit/free-port'
import { issueCertificate } from '@spout/testkit/tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { answeringEndpoint, call, watch } from './api.ts'
import { Endpoints } from './endpoints.ts'
import { NativeApi } from './native-api.ts'

/** A control plane, as far as a client sees it. */
interface Plane {
  readonly url: string
  /** `METHOD path` of what it was asked. */
  readonly asked: string[]
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function plane(
  answer: RequestListener,
  server: (listener: RequestListener) => Server = createServer,
): Promise<Plane> {
  const asked: string[] = []
  const listening = server((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => answer(request, response))
  })
  servers.push(listening)
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const scheme = server === createServer ? 'http' : 'https'
  return { asked, url: `${scheme}://127.0.0.1:${(listening.address() as AddressInfo).port}` }
}

const answers: RequestListener = (_, response) => void response.end('{"from":"it"}')
const breaks: RequestListener = (request) => void request.socket.destroy()
/** With a problem document, as a control plane that does not lead and finds no leader. */
const away =
  (status: number, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    void response
      .writeHead(status, headers)
      .end(JSON.stringify({ status, detail: `It is away: ${status}`, code: 'Unavailable' }))
const gone = async (): Promise<Plane> => ({ url: `http://127.0.0.1:${await freePort()}`, asked: [] })

const sessionOf = (...planes: readonly Plane[]) => ({
  endpoints: new Endpoints(planes.map(({ url }) => url)),
  token: 't',
})
const failureOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'answered',
    (error: Error) => error.message,
  )

/** How a control plane may fail to answer, and whether it may have done what it was asked. */
const UNANSWERED: readonly (readonly [what: string, make: () => Promise<Plane>, mayBeDone: boolean])[] = [
  ['that refuses connections', gone, false],
  [
    'whose certificate is not trusted',
    async () => {
      const { certificate: cert, key } = issueCertificate({ names: ['127.0.0.1'], days: 1 })
      return plane(answers, (listener) => createTlsServer({ cert, key }, listener))
    },
    false,
  ],
  ['that has no leader', () => plane(away(503, { 'spout-attempt': 'not-begun' })), false],
  ['behind a proxy that finds nobody', () => plane(away(503)), true],
  ['whose leader went away', () => plane(away(502)), true],
  ['that is killed before it answers', () => plane(breaks), true],
  [
    'that is killed while it answers',
    () =>
      plane((request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{')
        setImmediate(() => request.socket.destroy())
      }),
    true,
  ],
]

describe.each(UNANSWERED)('after one %s', (_, make, mayBeDone) => {
  test('a read is answered by the next, which is asked first from then on', async () => {
    const [first, second] = [await make(), await plane(answers)]
    const session = sessionOf(first, second)
    expect(await call(session, 'GET', '/networks')).toEqual({ from: 'it' })
    const before = first.asked.length
    expect(await call(session, 'GET', '/networks')).toEqual({ from: 'it' })
    expect(second.asked).toEqual(['GET /api/v1/networks', 'GET /api/v1/networks'])
    expect(first.asked).toHaveLength(before)
  })

  test(
    mayBeDone ? 'a change is not made again, and the reason says so' : 'a change is made by the next, once',
    async () => {
      const [first, second] = [await make(), await plane(answers)]
      const session = sessionOf(first, second)
      const changed = await failureOf(call(session, 'POST', '/networks', { name: 'n' }))
      if (mayBeDone) {
        expect(changed).toMatch(
          /^The control plane is not available: .*may have been carried out: it was not sent again$/,
        )
        expect(changed).toContain(`${first.url}: `)
        expect(second.asked).toEqual([])
        // The next request goes to the other.
        expect(session.endpoints.present).toBe(second.url)
      } else {
        expect(changed).toBe('answered')
        expect(second.asked).toEqual(['POST /api/v1/networks'])
      }
    },
  )
})

test('when none answers, each is named with its reason; the next request asks them all again', async () => {
  const planes = [await gone(), await plane(away(503, { 'spout-attempt': 'not-begun' })), await plane(breaks)]
  const [a, b, c] = planes.map(({ url }) => url)
  const session = sessionOf(...planes)
  const port = new URL(a!).port
  for (let n = 1; n <= 2; n++) {
    const [refused, broken] = [`connect ECONNREFUSED 127.0.0.1:${port}`, '(other side closed|read ECONNRESET)']
    expect(await failureOf(call(session, 'GET', '/x'))).toMatch(
      new RegExp(`^The control plane is not available: ${a}: ${refused}; ${b}: 503, It is away: 503; ${c}: ${broken}$`),
    )
    expect(planes.map(({ asked }) => asked.length)).toEqual([0, n, n])
  }
})

/** Takes a request and never answers. */
const isSilent: RequestListener = () => {}

describe.each([
  ['while it connects', (): AbortSignal => AbortSignal.abort()],
  [
    'before there is an answer',
    (first: Plane): AbortSignal => {
      const giving = new AbortController()
      void vi.waitFor(() => expect(first.asked).toHaveLength(1)).then(() => giving.abort())
      return giving.signal
    },
  ],
])('a caller that gives up %s', (_, signalFor) => {
  test('says nothing against who was asked, so that the next request goes there', async () => {
    const [first, second] = [await plane(isSilent), await plane(answers)]
    const session = sessionOf(first, second)
    expect(await failureOf(call(session, 'GET', '/x', undefined, signalFor(first)))).toContain('aborted')
    expect(session.endpoints.present).toBe(first.url)
    expect(second.asked).toEqual([])
  })
})

test('one that does not answer in time is left', async () => {
  const [first, second] = [await plane(isSilent), await plane(answers)]
  const session = sessionOf(first, second)
  expect(await failureOf(call(session, 'GET', '/x', undefined, AbortSignal.timeout(50)))).toContain('timeout')
  expect(session.endpoints.present).toBe(second.url)
})

test('a refusal is an answer: no other is asked', async () => {
  const refuses: RequestListener = (_, response) => void response.writeHead(409).end('{"detail":"It is in use"}')
  const [first, second] = [await plane(refuses), await plane(answers)]
  expect(await failureOf(call(sessionOf(first, second), 'GET', '/x'))).toBe('It is in use')
  expect(second.asked).toEqual([])
})

test('of one alone the own words are told, as they are', async () => {
  const alone = await gone()
  expect(await failureOf(call(sessionOf(alone), 'POST', '/x', {}))).toMatch(
    new RegExp(`^${alone.url} is not available: connect ECONNREFUSED`),
  )
  expect(await failureOf(call(sessionOf(await plane(away(502))), 'POST', '/x', {}))).toBe('It is away: 502')
})

test('clients of its other APIs get the URL of one that answers', async () => {
  const [first, second] = [await gone(), await plane(answers)]
  expect(await answeringEndpoint(sessionOf(first, second))).toBe(second.url)
  expect(second.asked).toEqual(['GET /api/v1/tokens/current'])
})

/** Sends the first line of a watch, and then nothing. */
const saysOne: RequestListener = (_, response) => void response.write('{"type":"BOOKMARK"}\n')

test('a watch that breaks names who was watched, and goes on at the next', async () => {
  const [first, second] = [await plane(saysOne), await plane(saysOne)]
  const session = sessionOf(first, second)
  const begin = () => watch(session, '/x?watch=1', new AbortController().signal)[Symbol.asyncIterator]()
  const broken = begin()
  expect(await broken.next()).toMatchObject({ value: { type: 'BOOKMARK' } })
  servers[0]!.closeAllConnections()
  servers[0]!.close()
  expect(await failureOf(broken.next())).toContain(`${first.url} is not available: `)
  const again = begin()
  expect(await again.next()).toMatchObject({ value: { type: 'BOOKMARK' } })
  expect([first.asked, second.asked]).toEqual([['GET /api/v1/x?watch=1'], ['GET /api/v1/x?watch=1']])
  await again.return?.()
})

test('a watch of which nothing comes is broken, and the next one goes elsewhere', async () => {
  const [first, second] = [await plane(saysOne), await plane(saysOne)]
  const session = sessionOf(first, second)
  const api = new NativeApi({ session: async () => session, forget: () => {} }, undefined, 50)
  const follow = async () => {
    for await (const { type } of api.watch('/x', new AbortController().signal)) expect(type).toBe('BOOKMARK')
  }
  expect(await failureOf(follow())).toBe(`${first.url} is not available: nothing came for 0.05 s`)
  expect(session.endpoints.present).toBe(second.url)
  expect(await failureOf(follow())).toContain(second.url)
})
