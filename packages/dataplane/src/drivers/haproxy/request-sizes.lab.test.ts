import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import type net from 'node:net'
import { join } from 'node:path'
import type { DedicatedProxy, RequestSizes } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { describe, expect, test } from 'vitest'
import { dial, MEMBER_ADDRESS } from '../../testing/haproxy/proxy-lab.ts'
import { memberAt, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host, started } = await proxyLabOfFile()

/** Answers with the bytes that it got: of the body, and of the longest header. */
async function readingMember() {
  const server = http.createServer({ maxHeaderSize: 100_000 }, (request, response) => {
    let body = 0
    request.on('data', (part: Buffer) => {
      body += part.length
    })
    const header = Math.max(...Object.values(request.headers).map((value) => String(value).length))
    request.on('end', () => response.end(`${body} ${header}`))
    request.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { name: 'web', port: (server.address() as net.AddressInfo).port, close }
}
const member = await started(readingMember())

/** A listener whose class limits the sizes; null: whose class does not. */
async function listener(sizes: Partial<RequestSizes> | null, dedicatedProxy?: DedicatedProxy): Promise<HaproxyDriver> {
  const driver = lab.driver()
  await put(driver, {
    ...webEntry([memberAt(member)]),
    ...(sizes === null ? {} : { requestSizes: { headerBytes: null, bodyBytes: null, ...sizes } }),
    ...(dedicatedProxy === undefined ? {} : { dedicatedProxy }),
  })
  return driver
}

interface Answer {
  readonly code: string
  readonly text: string
}

/** What curl gets, which sends `body` from its input. */
function curl(
  driver: HaproxyDriver,
  args: readonly string[],
  body = Buffer.alloc(0),
  service = 'web-80',
): Promise<Answer> {
  const url = `http://${host}:${portOf(driver, service)}/`
  return new Promise((resolve, reject) => {
    const whole = ['-sS', '--max-time', '20', '-w', ' %{http_code}', ...args, url]
    const child = execFile('curl', whole, { encoding: 'utf8' }, (error, stdout) => {
      const [, text = '', code = ''] = /^(.*) (\d+)$/s.exec(stdout) ?? []
      if (error !== null && !/^[1-9]/.test(code)) reject(error)
      else resolve({ code, text })
    })
    child.stdin?.on('error', () => {}).end(body)
  })
}

/** The status. Curl 7.88 forgets it when the stream is closed while it sends. */
function postHttp2(port: number, body: Buffer, withLength: boolean): Promise<number | undefined> {
  const session = http2.connect(`http://${host}:${port}`)
  const request = session.request({ ':method': 'POST', ...(withLength ? { 'content-length': body.length } : {}) })
  return new Promise((resolve, reject) => {
    let status: number | undefined
    request.on('response', (headers) => {
      status = headers[':status']
    })
    session.on('error', reject)
    request.on('error', () => {})
    request.on('close', () => {
      session.destroy()
      resolve(status)
    })
    request.resume().end(body)
  })
}

const header = (bytes: number): readonly string[] => ['-H', `X-Long: ${'x'.repeat(bytes)}`]
const announced = ['--data-binary', '@-']
/** HTTP/1.1 sends it in chunks, HTTP/2 without a length. Curl waits a moment for `100 Continue` first. */
const unannounced = ['-X', 'POST', '-T', '-']

describe('a body', () => {
  const most = 100_000
  const larger = Buffer.alloc(most + 1)

  test.each([
    ['that is announced', announced],
    ['in chunks', unannounced],
  ])('%s is as large as the class allows', async (_how, args) => {
    const driver = await listener({ bodyBytes: most })
    expect(await curl(driver, args, larger.subarray(1))).toMatchObject({
      code: '200',
      text: expect.stringMatching(/^100000 /),
    })
    expect(await curl(driver, args, larger)).toMatchObject({ code: '413' })
    expect(await curl(driver, args, larger.subarray(1))).toMatchObject({ code: '200' })
    expect(await curl(driver, [])).toMatchObject({ code: '200' })
  })

  test.each([
    ['that is announced', true],
    ['without a length', false],
  ])('of HTTP/2 %s is as large as the class allows', async (_how, withLength) => {
    const driver = await listener({ bodyBytes: most })
    const post = (bytes: number) => postHttp2(portOf(driver, 'web-80'), Buffer.alloc(bytes), withLength)
    expect([await post(most), await post(most + 1), await post(5 * most)]).toEqual([200, 413, 413])
  })

  test.each([
    ['announced', announced],
    ['in chunks', unannounced],
  ])('has any size where the class says nothing: %s', async (_how, args) => {
    const body = Buffer.alloc(5_000_000)
    expect(await curl(await listener(null), args, body)).toMatchObject({
      code: '200',
      text: expect.stringMatching(/^5000000 /),
    })
  })

  // Lengths beyond 32 bits are lengths, too.
  test.each([most + 1, 2 ** 31, 2 ** 32, 2 ** 32 + 5, 2 ** 40])(
    'that is announced is refused before it is sent: %d bytes',
    async (length) => {
      const client = await dial(host, portOf(await listener({ bodyBytes: most }), 'web-80'))
      client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`)
      await waitFor(() => client.received().includes('\r\n\r\n'), { what: 'an answer' })
      expect(client.received()).toMatch(/^HTTP\/1.1 413 /)
      client.end()
    },
  )

  test('with both a length and chunks counts as it is', async () => {
    const client = await dial(host, portOf(await listener({ bodyBytes: 10 }), 'web-80'))
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n')
    client.write(`40\r\n${'x'.repeat(0x40)}\r\n0\r\n\r\n`)
    await waitFor(() => client.received().includes('\r\n\r\n'), { what: 'an answer' })
    expect(client.received()).toMatch(/^HTTP\/1.1 4(13|00) /)
    client.end()
  })
})

describe('headers', () => {
  test.each([
    ['HTTP/1.1', []],
    ['HTTP/2', ['--http2-prior-knowledge']],
  ] as const)('are as large as the class allows, with the target: %s', async (_how, args) => {
    const driver = await listener({ headerBytes: 4_096 })
    expect(await curl(driver, [...args, ...header(3_800)])).toMatchObject({ code: '200', text: '0 3800' })
    expect(await curl(driver, [...args, ...header(4_100)])).toMatchObject({ code: '431' })
    expect(await curl(driver, [...args, '-G', '--data-urlencode', `q=${'x'.repeat(4_100)}`])).toMatchObject({
      code: '431',
    })
  })

  test('are refused with 400 beyond what the proxy has room for', async () => {
    const shared = await listener(null)
    expect(await curl(shared, header(14_000))).toMatchObject({ code: '200' })
    expect(await curl(shared, header(16_000))).toMatchObject({ code: '400' })
  })

  test.each([
    ['HTTP/1.1', []],
    ['HTTP/2', ['--http2-prior-knowledge']],
  ] as const)('may be larger in a proxy of its own: %s', async (_how, args) => {
    const driver = await listener({ headerBytes: 32_768 }, {})
    expect(await curl(driver, [...args, ...header(16_000), ...header(16_000)])).toMatchObject({ code: '200' })
    expect(await curl(driver, [...args, ...header(17_000), ...header(17_000)])).toMatchObject({ code: '431' })
    const name = driver.placesOf(7)[0]!.name
    expect(readFileSync(join(lab.runDirectory, name, 'haproxy.cfg'), 'utf8')).toContain('tune.bufsize 36864\n')
  })
})

test('load balancers of the network whose class says nothing are as before', async () => {
  const driver = await listener({ bodyBytes: 10, headerBytes: 1_024 })
  const other = webEntry([memberAt(member)])
  await put(driver, {
    ...other,
    ...{ key: 'lb/other', id: 'other', services: other.services.map((one) => ({ ...one, id: 'other-80' })) },
  })
  expect(await curl(driver, [...announced, ...header(2_000)], Buffer.alloc(11), 'other-80')).toEqual({
    code: '200',
    text: '11 2000',
  })
  expect(await curl(driver, announced, Buffer.alloc(11))).toMatchObject({ code: '413' })
})

test('load balancers of two classes have each its own limit', async () => {
  const driver = await listener({ bodyBytes: 1_000 })
  const other = webEntry([memberAt(member)], {}, { id: 'other-80' })
  await put(driver, {
    ...other,
    ...{ key: 'lb/other', id: 'other' },
    requestSizes: { headerBytes: null, bodyBytes: 10 },
  })
  const sent = async (bytes: number, service: string) =>
    (await curl(driver, unannounced, Buffer.alloc(bytes), service)).code
  expect([await sent(1_000, 'web-80'), await sent(1_001, 'web-80')]).toEqual(['200', '413'])
  expect([await sent(10, 'other-80'), await sent(11, 'other-80')]).toEqual(['200', '413'])
})
