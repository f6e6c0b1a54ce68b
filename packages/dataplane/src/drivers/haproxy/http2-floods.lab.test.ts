import { setImmediate } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { issueCertificate, recordFault } from '@spout/testkit'
import { beforeEach, expect, it } from 'vitest'
import { ask, httpMember } from '../../testing/haproxy/proxy-lab.ts'
import { proxyMemory } from '../../testing/haproxy/proxy-memory.ts'
import { FLAG, FRAME, frame, headerBlock, openHttp2, type RawHttp2 } from '../../testing/haproxy/raw-http2.ts'
import { sampleEntry, samplePool, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { proxyFiles } from './processes/proxy-files.ts'

/** Clients that use up a proxy by what HTTP/2 and TLS allow them to ask for, again and again. */

const { lab, host, started } = await proxyLabOfFile()
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
const member = await started(httpMember('a'))
const { certificate, key } = issueCertificate({ names: ['a.example'] })

/** A flood sends no more than this, if it is not cut off before. */
const MOST_BYTES = 1024 * 1024
const CONNECTIONS = 4
/** What all of it may cost in memory: some buffers a connection, and streams that were not taken down yet. */
const GROWTH_BYTES_MAX = 48 * 1024 * 1024

let plain: { readonly host: string; readonly port: number }
let secure: { readonly host: string; readonly port: number }

beforeEach(async () => {
  const driver = lab.driver()
  const tls = {
    certificates: [lab.storeCertificate(certificate + key)],
    ...{ unknownNames: 'default' as const, minVersion: '1.2' as const, alpn: ['h2', 'http/1.1'] as const },
  }
  const services = [sampleService('web-80'), sampleService('web-443', { protocol: 'https', port: 443, tls })]
  await put(driver, sampleEntry('web', services, [samplePool(1, { members: [memberAt(member)] })]))
  plain = { host, port: portOf(driver, 'web-80') }
  secure = { host, port: portOf(driver, 'web-443') }
})

const REQUEST = headerBlock([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.example'],
  [':path', '/'],
])
const OPEN = FLAG.endHeaders | FLAG.endStream
const odd = (index: number): number => index * 2 + 1
const together = (count: number, make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)))

/** An entry of the table of 4 kB that HPACK has, and then as many references to it as a frame holds. */
const BOMB = Buffer.concat([
  REQUEST,
  Buffer.from([0x40, 1, 0x78, 127, 0xff - 127 + 128, 30]),
  Buffer.alloc(127 + 128 + (30 << 7), 0x79),
  Buffer.alloc(8_000, 0xbe),
])

/**
 * The floods, piece by piece. `cut`: the proxy ends the connection, since it limits the bytes of a header, also over
 * several frames. `borne`: it keeps the connection.
 */
const FLOODS: readonly (readonly [name: string, piece: (index: number) => Buffer, end: 'cut' | 'borne'])[] = [
  [
    'CONTINUATION without an end',
    (index) =>
      index === 0
        ? frame(FRAME.headers, 0, 1, REQUEST)
        : frame(FRAME.continuation, 0, 1, headerBlock([[`x-${index}`, 'y'.repeat(8_000)]])),
    'cut',
  ],
  [
    'empty CONTINUATION without an end',
    (index) =>
      index === 0 ? frame(FRAME.headers, 0, 1, REQUEST) : together(1_000, () => frame(FRAME.continuation, 0, 1)),
    'cut',
  ],
  ['a header that grows when it is read', (index) => frame(FRAME.headers, OPEN, odd(index), BOMB), 'cut'],
  [
    'rapid reset',
    (index) =>
      together(500, (at) => {
        const stream = odd(index * 500 + at)
        const reset = frame(FRAME.reset, 0, stream, '\0\0\0\x08')
        return Buffer.concat([frame(FRAME.headers, OPEN, stream, REQUEST), reset])
      }),
    'borne',
  ],
  ['PING', () => together(500, () => frame(FRAME.ping, 0, 0, '12345678')), 'borne'],
  ['SETTINGS', () => together(500, () => frame(FRAME.settings, 0, 0, '\0\x04\0\0\xff\xff')), 'borne'],
  [
    'empty DATA',
    (index) =>
      index === 0 ? frame(FRAME.headers, FLAG.endHeaders, 1, REQUEST) : together(500, () => frame(FRAME.data, 0, 1)),
    'borne',
  ],
  [
    'PRIORITY',
    (index) => together(500, (at) => frame(FRAME.priority, 0, odd(index * 500 + at), '\0\0\0\0\x01')),
    'borne',
  ],
]

/** Sends a flood to its end, or to that of the connection. @returns bytes that were sent */
async function flood(client: RawHttp2, piece: (index: number) => Buffer): Promise<number> {
  let [sent, isClosed] = [0, false]
  void client.closed.then(() => {
    isClosed = true
  })
  for (let index = 0; sent < MOST_BYTES / CONNECTIONS && !isClosed; index++) {
    const next = piece(index)
    client.write(next)
    sent += next.length
    await client.sent()
    // Ordinary clients run in this process, too.
    await setImmediate()
  }
  return sent
}

it.each(FLOODS)(
  '%s: the proxy goes on, with the memory it had, and others are answered',
  async (name, piece, end) => {
    expect((await ask(plain)).status).toBe(200)
    const before = await proxyMemory(files.config)
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openHttp2(plain, null)))
    let isOver = false
    const floods = Promise.all(clients.map((client) => flood(client, piece))).finally(() => {
      isOver = true
    })
    let answered = 0
    do {
      expect((await ask(plain)).status).toBe(200)
      answered++
    } while (!isOver)
    const sent = (await floods).reduce((sum, bytes) => sum + bytes, 0)
    const during = await proxyMemory(files.config)
    if (end === 'cut') {
      await Promise.all(clients.map(({ closed }) => closed))
    }
    for (const client of clients) client.end()
    expect((await ask(plain)).status).toBe(200)
    expect(during.pids).toBe(before.pids)
    const growth = during.bytes - before.bytes
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX)
    recordFault({
      fault: `HTTP/2 flood of ${CONNECTIONS} connections: ${name}`,
      outcome: end === 'cut' ? 'the proxy ends them, others are answered' : 'the proxy bears it, others are answered',
      figure: `${(sent / 1e6).toFixed(1)} MB sent, memory ${growth < 0 ? '' : '+'}${(growth / 1e6).toFixed(1)} MB, ${answered} answered meanwhile`,
    })
  },
  60_000,
)

it('renegotiation of TLS is refused', async () => {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ ...secure, servername: 'a.example', rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
    opened.once('secureConnect', () => resolve(opened))
    opened.once('error', reject)
  })
  const failure = await new Promise<Error | null>((resolve) => {
    socket.on('error', resolve)
    socket.on('close', () => resolve(new Error('closed')))
    socket.renegotiate({ rejectUnauthorized: false }, resolve)
  })
  expect(failure?.message).toMatch(/no renegotiation|closed/i)
})
