import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connect } from './helper-protocol/probes.ts'
import { type HelperUnderTest, refusal, startHelperUnderTest } from './testing/helper-under-test.ts'
import { SANITIZED } from './testing/native-builds.ts'
import { FAR } from './testing/segment.ts'

const PORTS = {
  modern: 8001,
  older: 8002,
  tooOld: 8003,
  weak: 8004,
  finite: 8005,
  clients: 8006,
  flooding: 8007,
  greeting: 8008,
  halting: 8009,
  dripping: 8010,
  resetting: 8011,
  closing: 8012,
  mail: 8013,
  endless: 8014,
  certificates: 8015,
  huge: 8016,
} as const

const pemOf = (...newKey: string[]): string =>
  execFileSync('openssl', ['req', '-x509', '-nodes', '-subj', '/CN=member', '-newkey', ...newKey, '-keyout', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** A script with one server for each kind of member. It prints a line when all ports are open. */
const serversOf = (keys: { readonly good: string; readonly weak: string }): string => `
  const net = require('node:net'), tls = require('node:tls')
  const keys = ${JSON.stringify(keys)}, ports = ${JSON.stringify(PORTS)}
  const quiet = (socket) => socket.on('error', () => socket.destroy())
  const answer = (socket) => quiet(socket).once('data', (data) =>
    socket.write([data, socket.servername || '', socket.getProtocol()].join(' ')))
  const secure = (options, serve = answer, pem = keys.good) =>
    tls.createServer({ key: pem, cert: pem, ...options }, serve).on('tlsClientError', (_, socket) => socket.destroy())
  const plain = (serve) => net.createServer((socket) => serve(quiet(socket)))
  const flood = (socket, bytes) => {
    const write = () => { while (socket.write(bytes)); }
    socket.on('drain', write)
    write()
  }
  const times = (count, hex) => Buffer.concat(Array.from({ length: count }, () => Buffer.from(hex, 'hex')))
  const body = keys.good.slice(keys.good.indexOf('-----BEGIN CERT'))
  const servers = {
    modern: secure({}),
    older: secure({ maxVersion: 'TLSv1.2' }),
    tooOld: secure({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    weak: secure({ maxVersion: 'TLSv1.2', ciphers: 'DEFAULT@SECLEVEL=0' }, answer, keys.weak),
    finite: secure({ maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0', dhparam: 'auto' }, answer, keys.weak),
    clients: secure({ requestCert: true, rejectUnauthorized: true }),
    flooding: secure({}, (socket) => flood(quiet(socket), Buffer.alloc(65536, 'x'))),
    greeting: plain((socket) => flood(socket, times(2000, '160303000400000000'))),
    halting: plain((socket) => socket.write(Buffer.from('160303', 'hex'))),
    dripping: plain((socket) => {
      const timer = setInterval(() => socket.write(Buffer.from('16', 'hex')), 5)
      socket.on('close', () => clearInterval(timer))
    }),
    resetting: plain((socket) => socket.once('data', () => socket.resetAndDestroy())),
    closing: plain((socket) => socket.once('data', () => socket.end())),
    mail: plain((socket) => socket.write('220 mail.example ESMTP\\r\\n')),
    endless: plain((socket) => flood(socket, Buffer.alloc(65536, 0x16))),
    certificates: secure({ cert: body + body.repeat(200) }),
    // The beginning of a handshake message of 16 MB (RFC 8446 section 4).
    huge: plain((socket) => flood(socket, Buffer.concat([Buffer.from('160303400002ffffff0303', 'hex'), Buffer.alloc(16378)]))),
  }
  Promise.all(Object.entries(ports).map(([name, port]) => new Promise((done) => servers[name].listen(port, '::', done))))
    .then(() => console.log('ready'))
`

describe('TLS through the helper', () => {
  const { name, path } = SANITIZED
  let on: HelperUnderTest
  beforeAll(async () => {
    on = await startHelperUnderTest(path, `tl-${name[0]}`)
    const keys = { good: pemOf('ec', '-pkeyopt', 'ec_paramgen_curve:P-256'), weak: pemOf('rsa:1024') }
    await on.segment.serve(serversOf(keys))
  })
  afterAll(async () => expect(await on?.end()).toEqual([]))

  const send = Buffer.from('question')
  const ask = (to: keyof typeof PORTS, more: Partial<Connect> = {}) =>
    on.helper.connect({
      netns: on.netns,
      address: FAR.ip,
      port: PORTS[to],
      timeoutMs: 5_000,
      send,
      maxBytes: 24,
      tls: {},
      ...more,
    })
  const said = async (...args: Parameters<typeof ask>) => {
    const result = await ask(...args)
    return result.connected ? Buffer.from(result.received).toString() : result
  }
  const failure = (reason: string, alert: number | null = null) => ({
    connected: true,
    end: 'tls',
    tls: { reason, alert },
    received: Buffer.alloc(0),
  })

  test('speaks TLS 1.3 and 1.2 with whatever certificate and key, and through it', async () => {
    const tls = { serverName: 'app.example' }
    expect(await said('modern', { maxBytes: 16 })).toBe('question  TLSv1.')
    expect(await ask('modern', { maxBytes: 16 })).toMatchObject({ end: 'full' })
    expect(await said('modern', { maxBytes: 28, tls })).toBe('question app.example TLSv1.3')
    expect(await said('older', { maxBytes: 28, tls, address: FAR.ip6 })).toBe('question app.example TLSv1.2')
    expect(await said('weak', { maxBytes: 17 })).toBe('question  TLSv1.2')
    expect(await ask('modern', { send: undefined })).toMatchObject({ connected: true, end: 'none' })
    expect(await ask('modern', { maxBytes: 4096, timeoutMs: 200 })).toMatchObject({ end: 'timeout' })
  })

  test('sends and reads much', async () => {
    const result = await ask('flooding', { send: Buffer.alloc(65_536, 'y'), maxBytes: 30_000 })
    expect(result).toMatchObject({ end: 'full', received: Buffer.alloc(30_000, 'x') })
  })

  test('tells why there is no TLS', async () => {
    expect(await ask('tooOld')).toMatchObject(failure(expect.stringContaining('alert protocol version'), 70))
    // The helper does not offer key exchanges whose parameters the server chooses.
    expect(await ask('finite')).toMatchObject(failure(expect.stringContaining('alert handshake failure'), 40))
    expect(await ask('clients')).toMatchObject(failure(expect.stringContaining('alert certificate required'), 116))
    expect(await ask('mail')).toMatchObject(failure('wrong version number'))
    expect(await ask('resetting')).toMatchObject({ connected: true, end: 'reset' })
    expect(await ask('closing')).toMatchObject({ connected: true, end: 'closed' })
    expect(await ask('modern', { port: 9 })).toMatchObject({ connected: false, reason: 'connection refused' })
  })

  test('is held by nobody for longer or with more than it has', async () => {
    expect(await ask('halting', { timeoutMs: 100 })).toMatchObject({ connected: true, end: 'timeout' })
    expect(await ask('dripping', { timeoutMs: 100 })).toMatchObject({ connected: true })
    expect(await ask('greeting')).toMatchObject(failure('too much data'))
    expect(await ask('endless')).toMatchObject(failure('wrong version number'))
    expect(await ask('huge')).toMatchObject(failure(expect.stringContaining('excessive message size')))
    expect(await ask('certificates')).toMatchObject(failure('excessive message size'))
    const { received: _, ...without } = failure('too much data')
    expect(await ask('flooding', { maxBytes: 65_536 })).toMatchObject(without)
  })

  test('many at a time, hostile ones among them', async () => {
    const hostile = ['halting', 'dripping', 'greeting', 'endless', 'huge', 'flooding'] as const
    const held = Array.from({ length: 120 }, (_, index) =>
      ask(hostile[index % hostile.length]!, { timeoutMs: 3_000, maxBytes: 65_536 }),
    )
    const answers = await Promise.all(Array.from({ length: 40 }, () => said('modern', { maxBytes: 8 })))
    expect(new Set(answers)).toEqual(new Set(['question']))
    const ends = (await Promise.all(held)).map((result) => result.connected && result.end)
    expect(ends.every((end) => end === 'tls' || end === 'timeout')).toBe(true)
    expect((await on.helper.stats()).probesInFlight).toBe(0)
  })

  test('refuses requests that make no sense', async () => {
    const wrong = (tls: unknown) => refusal(ask('modern', { tls: tls as object }))
    expect((await wrong('yes')).message).toContain('tls is not an object')
    expect((await wrong({ serverName: 1 })).message).toContain('serverName is not text')
    expect((await wrong({ serverName: '' })).message).toContain('serverName is not from 1 to 255 bytes long')
    expect((await wrong({ serverName: 'a'.repeat(256) })).message).toContain('serverName is not from 1 to 255')
  })
})
