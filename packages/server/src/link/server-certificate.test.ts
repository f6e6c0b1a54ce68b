import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'
import { AgentLink } from './agent-link.ts'
import { CertificateAuthority } from './certificate-authority.ts'

const DAY_MS = 24 * 3_600_000

const clock = new FakeClock()
let directory: string
let bed: TestBed
let link: AgentLink
let authority: CertificateAuthority

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'spout-certificate-'))
  bed = await openTestBed()
  authority = await CertificateAuthority.open(directory)
  link = new AgentLink({
    ...{ authority, store: bed.store, view: bed.view, admission: bed.admission, clock, log: silentLogger() },
    states: { ready: () => true, get: () => null, entries: () => [].values(), onChange: () => () => {} },
    reports: { report: () => ({ resend: false }) },
    ...{ listen: { host: '127.0.0.1', port: 0 }, hosts: ['127.0.0.1'] },
  })
  await link.start()
})
afterAll(async () => {
  await link.stop()
  await bed.close()
  rmSync(directory, { recursive: true, force: true })
})

interface Seen {
  readonly serial: string
  readonly reused: boolean
  readonly session: Buffer | null
}

/** Connects and sends a request, so that what the server sends after the handshake has arrived. @returns what it saw */
const see = (options: ConnectionOptions = {}): Promise<Seen> =>
  new Promise((resolve, reject) => {
    let session: Buffer | null = null
    const all = { host: '127.0.0.1', port: link.port, ca: authority.certificate, ...options }
    const socket: TLSSocket = connect(all, () => {
      socket.write('GET / HTTP/1.1\r\nHost: spout\r\nConnection: close\r\n\r\n')
    })
    socket.on('session', (ticket) => {
      session = ticket
    })
    socket.on('error', reject).on('data', () => {})
    socket.on('close', () => resolve({ serial, reused, session }))
    let [serial, reused] = ['', false]
    socket.on('secureConnect', () => {
      serial = socket.getPeerX509Certificate()?.serialNumber ?? ''
      reused = socket.isSessionReused()
    })
  })

const keepsItsPromises = async (): Promise<void> => {
  const { session } = await see()
  expect((await see(session === null ? {} : { session })).reused).toBe(false)
  await expect(see({ maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/)
}

describe('the certificate of our own servers', () => {
  test("is renewed each day, with the server's other TLS settings", async () => {
    await keepsItsPromises()
    const { serial: before } = await see()
    await clock.advance(DAY_MS)
    await waitFor(async () => (await see()).serial !== before, { what: 'the next certificate' })
    // No session is resumed: each connection shows its certificate.
    await keepsItsPromises()
  })
})
