import http from 'node:http'
import type net from 'node:net'
import { recordFault, waitFor } from '@spout/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, crowd, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { proxyMemory } from '../../testing/haproxy/proxy-memory.ts'
import { FLAG, FRAME, frame, headerBlock, openHttp2, type RawHttp2 } from '../../testing/haproxy/raw-http2.ts'
import { sampleRoute } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import { proxyFiles } from './processes/proxy-files.ts'
import { DEFAULT_OPTIONS, type HaproxyOptions } from './sections/options.ts'

// Clients that send their bodies byte by byte, so that no time-out for silent clients ends their requests.

const { lab, host, started } = await proxyLabOfFile()
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)

/** Answers a request without a body at once, and one with a body when it is complete. */
async function readingMember() {
  let count = 0
  const server = http.createServer((request, response) => {
    count++
    request.on('error', () => {})
    request.on('end', () => response.end('{}'))
    request.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const { port } = server.address() as net.AddressInfo
  return { name: 'reading', port, count: () => count, close }
}
const member = await started(readingMember())

const BODY = 100_000
const SLOW = `POST / HTTP/1.1\r\nHost: slow\r\nContent-Length: ${BODY}\r\n\r\nx`
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** @param requestMs of the route that takes all requests; null: there is no route */
async function proxy(options: Partial<HaproxyOptions> = {}, requestMs: number | null = null) {
  const driver = lab.driver({ options })
  const timeouts = { requestMs, backendRequestMs: null }
  const route = sampleRoute(1, { type: 'forward', pools: [{ pool: 1, weight: 1 }], timeouts })
  await put(driver, webEntry([memberAt(member)], {}, requestMs === null ? {} : { routes: [route] }))
  return { driver, to: { host, port: portOf(driver, 'web-80') } }
}

const slowCrowd = (to: { readonly host: string; readonly port: number }) => {
  const slow = crowd(to, SLOW)
  ends.push(slow.end)
  return slow
}

const megabytes = async (): Promise<number> => (await proxyMemory(files.config)).bytes / 2 ** 20

/** Makes 50 ordinary requests. @param between called after each @returns the time of the slowest, in milliseconds */
async function askFifty(to: Parameters<typeof ask>[0], between: () => void): Promise<number> {
  let worstMs = 0
  for (let request = 0; request < 50; request++) {
    const startMs = performance.now()
    expect((await ask(to)).status).toBe(200)
    worstMs = Math.max(worstMs, performance.now() - startMs)
    between()
  }
  return worstMs
}

const field = (method: string) =>
  headerBlock([
    [':method', method],
    [':scheme', 'http'],
    [':authority', 'slow'],
    [':path', '/'],
  ])
const odd = (index: number): number => index * 2 + 1

/** Opens so many streams whose bodies have begun. */
function beginBodies(client: RawHttp2, count: number): void {
  for (let index = 0; index < count; index++)
    client.write(
      frame(FRAME.headers, FLAG.endHeaders, odd(index), field('POST')),
      frame(FRAME.data, 0, odd(index), 'x'),
    )
}
const openClient = async (to: Parameters<typeof openHttp2>[0]): Promise<RawHttp2> => {
  const client = await openHttp2(to, null)
  ends.push(client.end)
  return client
}

describe('requests whose bodies drip', () => {
  it.each([null, 600_000])(
    'of 4,000 clients of four addresses leave room for others; time for a request: %s',
    async (requestMs) => {
      const { driver, to } = await proxy({}, requestMs)
      const before = await megabytes()
      const slow = slowCrowd(to)
      for (let number = 2; number < 6; number++) {
        slow.enter(await lab.source(number), DEFAULT_OPTIONS.maxConnections / 4)
        await waitFor(() => slow.pending() === 0, { what: 'the whole crowd' })
      }
      const worstMs = await askFifty(to, () => slow.drip('a'))
      await waitFor(() => slow.closed() > 0, { what: 'some to be turned away' })
      const [stats] = await driver.stats()
      expect(stats!.activeConnections).toBeLessThanOrEqual((DEFAULT_OPTIONS.maxConnections * 3) / 4)
      const grown = (await megabytes()) - before
      recordFault({
        fault: `4,000 clients of four addresses drip bodies at a proxy${requestMs === null ? '' : ', on a route with a time-out'}`,
        outcome: `${stats!.activeConnections} of them get in; 50 of 50 honest requests are answered`,
        figure: `0 failed, slowest ${worstMs.toFixed(0)} ms, memory ${grown.toFixed(0)} MB more`,
      })
    },
  )

  it('in 10,000 streams of 100 connections of HTTP/2 leave room for others', async () => {
    const { to } = await proxy()
    const before = await megabytes()
    const clients: RawHttp2[] = []
    for (let count = 0; count < 100; count++) {
      const client = await openClient(to)
      clients.push(client)
      beginBodies(client, 100)
      await client.sent()
    }
    const drip = () => {
      for (const client of clients) client.write(frame(FRAME.data, 0, 1, 'a'))
    }
    const worstMs = await askFifty({ ...to, localAddress: await lab.source(2) }, drip)
    const grown = (await megabytes()) - before
    recordFault({
      fault: '10,000 streams of HTTP/2 of one address drip bodies at a proxy',
      outcome: '50 of 50 honest requests are answered',
      figure: `0 failed, slowest ${worstMs.toFixed(0)} ms, memory ${grown.toFixed(0)} MB more`,
    })
  })

  it('count as requests of their source over HTTP/2: further ones get 429, those of others do not', async () => {
    const { to } = await proxy({ maxConnections: 40 })
    const slow = await openClient(to)
    const before = member.count()
    beginBodies(slow, 20)
    await waitFor(() => member.count() - before === 20, { what: '20 requests' })
    slow.write(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, odd(20), field('GET')))
    expect((await slow.ended(odd(20))).status).toBe(429)
    const other = await ask({ ...to, localAddress: await lab.source(2) })
    expect(other.status).toBe(200)
    // One that ends makes room for one.
    slow.write(frame(FRAME.data, FLAG.endStream, 1))
    expect((await slow.ended(1)).status).toBe(200)
    const asked = async (index: number) => {
      slow.write(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, odd(index), field('GET')))
      return (await slow.ended(odd(index))).status
    }
    let index = 21
    await waitFor(async () => (await asked(index++)) === 200, { what: 'room' })
  })

  it('end with the time that the route gives a request, however steadily they drip', async () => {
    const { to } = await proxy({}, 300)
    const slow = slowCrowd(to)
    slow.enter(await lab.source(2), 10)
    await waitFor(
      () => {
        slow.drip('a')
        return slow.closed() === 10
      },
      { what: 'the end of all ten' },
    )
  })
})
