import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect as connectTls } from 'node:tls'
import { parseCidr } from '@spout/net'
import { silentLogger } from '@spout/runtime'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { received } from '../testing/received.ts'
import { createServer, type HostOptions } from './host.ts'
import { readProxyHeader } from './proxy-header.ts'

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const v2 = (command: number, family: number, addresses: string): Buffer => {
  const body = Buffer.from(addresses, 'hex')
  const fixed = Buffer.alloc(4)
  fixed.writeUInt8(0x20 | command, 0)
  fixed.writeUInt8(family, 1)
  fixed.writeUInt16BE(body.length, 2)
  return Buffer.concat([SIGNATURE, fixed, body])
}
const V1 = Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n')
const V2 = v2(1, 0x11, 'c0000207c63364011267 01bb'.replace(' ', ''))

describe('readProxyHeader', () => {
  test.each([
    ['version 1', V1, '192.0.2.7'],
    ['version 1 of IPv6', Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n'), '2001:db8::7'],
    ['version 1 of something else', Buffer.from('PROXY UNKNOWN ffff:f...\r\n'), null],
    ['version 2', V2, '192.0.2.7'],
    ['version 2 of IPv6', v2(1, 0x21, `20010db8${'0'.repeat(22)}07${'0'.repeat(40)}`), '2001:db8::7'],
    ['version 2 with TLVs behind', v2(1, 0x11, 'c0000207c6336401126701bb0300040000abcd'), '192.0.2.7'],
    ["version 2 of the proxy's own check", v2(0, 0, ''), null],
  ])('%s', (_what, bytes, address) => {
    for (let length = 0; length < bytes.length; length++) expect(readProxyHeader(bytes.subarray(0, length))).toBeNull()
    const more = Buffer.concat([bytes, Buffer.from('GET /')])
    expect(readProxyHeader(more)).toEqual({ lengthBytes: bytes.length, address })
  })

  test.each([
    ['no header', Buffer.from('GET / HTTP/1.1\r\n')],
    ['an address that is none', Buffer.from('PROXY TCP4 192.0.2.300 198.51.100.1 1 2\r\n')],
    ['a line without an end', Buffer.from(`PROXY TCP4 ${'1'.repeat(107)}`)],
    ['an unknown version', Buffer.concat([SIGNATURE, Buffer.from('31110000', 'hex')])],
    ['too short for its addresses', v2(1, 0x11, 'c0000207')],
    ['longer than anybody needs', Buffer.concat([SIGNATURE, Buffer.from('2111ffff', 'hex')])],
  ])('refuses %s', (_what, bytes) => {
    expect(() => readProxyHeader(bytes)).toThrow()
  })

  test('never reads beyond the input', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.boolean(), (bytes, signed) => {
        const input = signed ? Buffer.concat([SIGNATURE, bytes]) : Buffer.from(bytes)
        try {
          expect(readProxyHeader(input)?.lengthBytes ?? 0).toBeLessThanOrEqual(input.length)
        } catch (error) {
          expect((error as Error).message).toContain('PROXY header')
        }
      }),
    )
  })
})

describe('a server behind a proxy', () => {
  let app: FastifyInstance
  afterEach(() => app.close())

  async function listen(trusted: string, https?: HostOptions['https']): Promise<number> {
    const proxies = { trustedProxies: [parseCidr(trusted)], clientAddressFrom: 'proxy-protocol' } as const
    app = createServer({ log: silentLogger(), proxies, ...(https && { https }) })
    app.post('/who', async (request) => ({ address: request.ip, body: request.body }))
    await app.listen({ host: '127.0.0.1', port: 0 })
    const address = app.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }
  const REQUEST = 'POST /who HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 7\r\n'
  const request = (ending: string) => Buffer.from(`${REQUEST}${ending}\r\n\r\n{"a":1}`)
  const CLOSE = request('connection: close')

  test.each([
    ['version 1', V1],
    ['version 2', V2],
  ])('removes the header of %s, also when it arrives together with several requests', async (_what, header) => {
    const port = await listen('127.0.0.0/8')
    const socket = connectTcp(port, '127.0.0.1')
    const { whole: text } = received(socket)
    socket.write(Buffer.concat([header, request('x: y'), CLOSE]))
    const answers = (await text).split('HTTP/1.1 ').slice(1)
    expect(answers).toHaveLength(2)
    for (const answer of answers) expect(answer).toContain('{"address":"192.0.2.7","body":{"a":1}}')
  })

  test('removes it when it arrives a byte at a time', async () => {
    const port = await listen('127.0.0.0/8')
    const socket = connectTcp(port, '127.0.0.1')
    socket.setNoDelay(true)
    const { whole: text } = received(socket)
    for (const byte of V2) await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()))
    socket.write(CLOSE)
    expect(await text).toContain('{"address":"192.0.2.7"')
  })

  test('removes it before TLS', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'spout-proxy-'))
    const [keyFile, certFile] = [path.join(directory, 'key'), path.join(directory, 'cert')]
    const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes']
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
    execFileSync('openssl', ['req', '-x509', ...ec, '-keyout', keyFile, '-out', certFile, ...subject], {
      stdio: 'ignore',
    })
    const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)]
    rmSync(directory, { recursive: true })
    const port = await listen('127.0.0.0/8', { key, cert })
    const raw = connectTcp(port, '127.0.0.1')
    raw.write(V1)
    const socket = connectTls({ socket: raw, ca: cert, servername: 'localhost' })
    const { whole: text } = received(socket)
    socket.write(CLOSE)
    expect(await text).toContain('{"address":"192.0.2.7"')
  })

  test('disconnects a proxy that sends none', async () => {
    const port = await listen('127.0.0.0/8')
    const socket = connectTcp(port, '127.0.0.1')
    const { whole: text } = received(socket)
    socket.write(CLOSE)
    expect(await text).toBe('')
  })

  test('rejects a header on a connection that is not from a proxy', async () => {
    const port = await listen('10.0.0.0/8')
    const socket = connectTcp(port, '127.0.0.1')
    const { whole: text } = received(socket)
    socket.write(Buffer.concat([V1, CLOSE]))
    expect(await text).toMatch(/^HTTP\/1.1 400 /)
    const direct = connectTcp(port, '127.0.0.1')
    const { whole: answer } = received(direct)
    direct.write(CLOSE)
    expect(await answer).toContain('{"address":"127.0.0.1"')
  })
})
