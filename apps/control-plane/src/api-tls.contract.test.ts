import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connect } from 'node:tls'
import { recordFault, run } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

// OpenSSL's own client, against the API as its process serves it.

/** The security level at which OpenSSL's client offers ciphers that it does not offer by default. */
const WEAK = '@SECLEVEL=0'

let controlPlane: ControlPlaneProcess
let port: number
let authorityFile: string

beforeAll(async () => {
  controlPlane = await ControlPlaneProcess.start(['api.tls=true', 'agentLink.names=[localhost]'])
  port = controlPlane.port
  authorityFile = path.join(controlPlane.stateDirectory, 'agent-link/ca.crt')
}, 90_000)

afterAll(() => controlPlane?.[Symbol.asyncDispose]())

interface Handshake {
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`; null when there is none. */
  readonly agreed: string | null
  /** All that the client printed. */
  readonly said: string
}

async function shakeHands(...offer: readonly string[]): Promise<Handshake> {
  const trust = ['-CAfile', authorityFile, '-verify_return_error', '-verify_hostname', 'localhost']
  const { stdout, stderr } = await run(
    ['openssl', 's_client', '-connect', `127.0.0.1:${port}`, '-servername', 'localhost', ...trust, ...offer],
    { input: '' },
  )
  const [, version, cipher] = /^New, (TLSv[\d.]+), Cipher is (\S+)$/m.exec(stdout) ?? []
  return { agreed: cipher === undefined ? null : `${version} ${cipher}`, said: `${stdout}${stderr}` }
}

const AEAD_SUITES = [
  ['TLS 1.3, AES-256', ['-tls1_3', '-ciphersuites', 'TLS_AES_256_GCM_SHA384'], 'TLSv1.3 TLS_AES_256_GCM_SHA384'],
  [
    'TLS 1.3, ChaCha20',
    ['-tls1_3', '-ciphersuites', 'TLS_CHACHA20_POLY1305_SHA256'],
    'TLSv1.3 TLS_CHACHA20_POLY1305_SHA256',
  ],
  [
    'TLS 1.2, AES-128',
    ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    'TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256',
  ],
  [
    'TLS 1.2, AES-256',
    ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
    'TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384',
  ],
  [
    'TLS 1.2, ChaCha20',
    ['-tls1_2', '-cipher', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    'TLSv1.2 ECDHE-ECDSA-CHACHA20-POLY1305',
  ],
  ['whatever the client likes', [], /^TLSv1\.3 TLS_AES_\d+_GCM_SHA\d+$/],
] as const

const OLD = [
  ['TLS 1.0', ['-tls1', '-cipher', `ALL:${WEAK}`]],
  ['TLS 1.1', ['-tls1_1', '-cipher', `ALL:${WEAK}`]],
  ['CBC with SHA-1', ['-tls1_2', '-cipher', `ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:${WEAK}`]],
  ['CBC with SHA-2', ['-tls1_2', '-cipher', `ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384:${WEAK}`]],
  ['CCM, of which no client needs to speak', ['-tls1_2', '-cipher', `ECDHE-ECDSA-AES128-CCM:${WEAK}`]],
  ['no forward secrecy', ['-tls1_2', '-cipher', `kRSA:kPSK:kDHEPSK:${WEAK}`]],
  ['no authentication or no encryption', ['-tls1_2', '-cipher', `aNULL:eNULL:${WEAK}`]],
  ['DHE', ['-tls1_2', '-cipher', `kDHE:${WEAK}`]],
] as const

describe('the API with api.tls', () => {
  const spoken: string[] = []
  const refused: string[] = []

  test.each(AEAD_SUITES)('%s is spoken', async (what, offer, agreed) => {
    const { agreed: got, said } = await shakeHands(...offer)
    if (typeof agreed === 'string') expect(got).toBe(agreed)
    else expect(got).toMatch(agreed)
    expect(said).toContain('Verify return code: 0 (ok)')
    if (said.includes('Protocol  : TLSv1.2')) expect(said).toMatch(/Server Temp Key: (X25519|ECDH, prime256v1)/)
    spoken.push(what)
  })

  test.each(OLD)('%s is refused by the server', async (what, offer) => {
    const { agreed, said } = await shakeHands(...offer)
    expect(agreed).toBeNull()
    // An alert that came over the wire: the client did offer it.
    expect(said).toMatch(/alert (protocol version|handshake failure)|SSL alert number (40|70)/)
    refused.push(what)
  })

  test('TLS 1.2 renegotiation is refused', async () => {
    const answer = await new Promise<string>((resolve) => {
      const ca = readFileSync(authorityFile)
      const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca, maxVersion: 'TLSv1.2' }, () => {
        socket.renegotiate({}, (error) => resolve(error === null ? 'allowed' : error.message))
      })
      socket.on('error', (error) => resolve(error.message))
    })
    expect(answer).toMatch(/no renegotiation/i)
  })

  test('plain HTTP gets no answer of the API', async () => {
    const plain = await run(['curl', '-s', '-m', '5', `http://127.0.0.1:${port}/healthz`])
    expect([plain.code === 0, plain.stdout]).toEqual([false, ''])
    const good = await run(['curl', '-s', '-m', '5', '--cacert', authorityFile, `https://localhost:${port}/healthz`])
    expect(good.stdout).toBe('{"status":"ok"}')
  })

  test('browsers are told to use TLS only', async () => {
    const { stdout } = await run([
      ...['curl', '-s', '-m', '5', '-D', '-', '-o', '/dev/null', '--cacert', authorityFile],
      `https://localhost:${port}/healthz`,
    ])
    expect(stdout.toLowerCase()).toContain('strict-transport-security: max-age=31536000\r\n')
  })

  test('the session of the web page is a cookie that no other site can set, and that goes over TLS alone', async () => {
    const password = readFileSync(path.join(controlPlane.stateDirectory, 'admin-password'), 'utf8').trim()
    const jar = path.join(controlPlane.stateDirectory, 'cookies')
    const curl = async (...words: readonly string[]) =>
      (
        await run([
          'curl',
          '-s',
          '-m',
          '5',
          '--cacert',
          authorityFile,
          '-b',
          jar,
          '-c',
          jar,
          '-H',
          'spout-page: 1',
          ...words,
        ])
      ).stdout
    const session = `https://localhost:${port}/api/v1/session`
    const body = JSON.stringify({ userName: 'admin', password })
    await curl('-H', 'content-type: application/json', '-d', body, session)
    // Host, whether for subdomains, path, whether for TLS alone, time, name.
    expect(readFileSync(jar, 'utf8')).toMatch(
      /^#HttpOnly_localhost\tFALSE\t\/\tTRUE\t\d+\t__Host-spout-session\t\S{43}$/m,
    )
    expect(JSON.parse(await curl(session))).toMatchObject({ userName: 'admin' })
    await curl('-X', 'DELETE', session)
    expect(readFileSync(jar, 'utf8')).not.toContain('spout-session')
  })

  test('nothing was left out', () => {
    expect(refused).toEqual(OLD.map(([what]) => what))
    expect(spoken).toEqual(AEAD_SUITES.map(([what]) => what))
    recordFault({
      fault: 'API: clients with weak TLS',
      outcome: 'refused by the server; TLS 1.3 and the AEAD suites of TLS 1.2 are spoken',
      figure: `${refused.length} of ${OLD.length} weak offers refused, ${spoken.length} of ${AEAD_SUITES.length} good ones taken`,
    })
  })
})
