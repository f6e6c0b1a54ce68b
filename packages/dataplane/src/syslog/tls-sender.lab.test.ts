import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeSyslogTls } from '@spout/model/node-state'
import { systemClock } from '@spout/runtime'
import { createNetns, deleteNetns, ensureVeth, netnsPath, runIn } from '@spout/sys'
import { waitFor } from '@spout/testkit'
import { type Issued, issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { silent } from '../testing/lab-node.ts'
import { SyslogSenders } from './syslog-senders.ts'

const EXECUTABLE = join(import.meta.dirname, '../../../../native/build/spout-syslog-asan')
const NODE = `spl${process.pid}-n`
const TENANT = `spl${process.pid}-t`
const ADDRESS = '10.79.0.2'
const DOMAIN = 7
const directory = mkdtempSync(join(tmpdir(), 'spout-syslog-'))
const authority = issueCertificate({ isAuthority: true })
const stranger = issueCertificate({ isAuthority: true })

beforeAll(async () => {
  await createNetns(NODE)
  await createNetns(TENANT)
  await ensureVeth({ netns: NODE, name: 'segment' }, { netns: TENANT, name: 'segment' })
  await runIn(NODE, ['ip', 'address', 'add', '10.79.0.1/24', 'dev', 'segment'])
  await runIn(TENANT, ['ip', 'address', 'add', `${ADDRESS}/24`, 'dev', 'segment'])
})
afterAll(async () => {
  await deleteNetns(NODE)
  await deleteNetns(TENANT)
  rmSync(directory, { recursive: true })
})

/** Puts a certificate where the agent would. */
function stored(pem: string): { readonly id: string; readonly contentId: string } {
  const contentId = createHash('sha256').update(pem).digest('hex').slice(0, 32)
  writeFileSync(join(directory, `${contentId}.pem`), pem, { mode: 0o600 })
  return { id: contentId, contentId }
}

const known = stored(authority.certificate)

const issue = (of: { readonly alternatives?: string; readonly days?: number }, issuer: Issued = authority): Issued =>
  issueCertificate({ alternatives: `IP:${ADDRESS}`, ...of, issuer })

interface Receiving {
  readonly text: () => string
  readonly end: () => Promise<void>
}

/** `openssl s_server` in the tenant's network, which prints what it gets. */
async function receive(port: number, shown: Issued, args: readonly string[] = []): Promise<Receiving> {
  const [certificate, key] = ['crt', 'key'].map((end) => join(directory, `${port}.${end}`)) as [string, string]
  writeFileSync(certificate, shown.certificate)
  writeFileSync(key, shown.key)
  const server = ['openssl', 's_server', '-accept', `${port}`, '-cert', certificate, '-key', key, ...args]
  const child: ChildProcess = spawn('nsenter', [`--net=${netnsPath(TENANT)}`, '--', ...server], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let text = ''
  child.stdout!.on('data', (data: Buffer) => {
    text += data.toString('latin1')
  })
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  onTestFinished(end)
  await waitFor(() => text.includes('ACCEPT'), { what: 'a receiver' })
  return { text: () => text, end }
}

function sending(): SyslogSenders {
  const senders = new SyslogSenders({
    executable: EXECUTABLE,
    certificateFile: (contentId) => join(directory, `${contentId}.pem`),
    netns: () => netnsPath(NODE),
    uid: () => 0x2000_0000 + DOMAIN,
    clock: systemClock,
    log: silent,
  })
  onTestFinished(() => senders.stopDomain(DOMAIN))
  return senders
}

const to = (port: number, tls: Partial<NodeSyslogTls> = {}) => ({
  domain: DOMAIN,
  target: {
    ...({ transport: 'tls', port, address: ADDRESS } as const),
    tls: { authorities: known, serverName: null, certificate: null, ...tls },
  },
})
const until = (what: string, holds: () => boolean) => waitFor(holds, { what, timeoutMs: 20_000 })
const MESSAGES = ['<134>1 one', '<134>1 two', `<134>1 ${'x'.repeat(15_000)}`]
const FRAMES = MESSAGES.map((message) => `${message.length} ${message}`).join('')

test('messages go over TLS with their length before each, to a receiver that the authority knows', async () => {
  const receiver = await receive(6514, issue({}))
  const senders = sending()
  for (const message of MESSAGES) senders.send(to(6514), message)
  await until('the messages', () => receiver.text().includes(FRAMES))
  await until('the counts', () => senders.counts.sent === MESSAGES.length)
  expect(senders.counts).toEqual({ sent: MESSAGES.length, lost: 0 })
  expect(senders.troubleOf(to(6514))).toBeNull()
})

test('a receiver may have a name in place of its address', async () => {
  const receiver = await receive(6515, issue({ alternatives: 'DNS:logs.example' }))
  const senders = sending()
  const named = to(6515, { serverName: 'logs.example' })
  senders.send(named, 'one')
  await until('the message', () => receiver.text().includes('3 one'))
  // The receiver takes one connection after the other.
  await senders.stopDomain(DOMAIN)
  const other = to(6515, { serverName: 'other.example' })
  senders.send(other, 'two')
  await until('the reason', () => senders.troubleOf(other) !== null)
  expect(senders.troubleOf(other)).toBe("the receiver's certificate is for another name")
  expect(receiver.text()).not.toContain('two')
})

test.each([
  [
    'of another authority',
    6521,
    () => issue({}, stranger),
    "the receiver's certificate is not from the given authority",
  ],
  [
    'for another address',
    6522,
    () => issue({ alternatives: 'IP:10.79.0.3' }),
    "the receiver's certificate is for another name",
  ],
  ['that has expired', 6523, () => issue({ days: -1 }), "the receiver's certificate has expired"],
] as const)(
  'a receiver with a certificate %s gets nothing, and the reason is told',
  async (_what, port, shown, reason) => {
    const receiver = await receive(port, shown())
    const senders = sending()
    senders.send(to(port), 'secret')
    await until('the reason', () => senders.troubleOf(to(port)) !== null)
    expect(senders.troubleOf(to(port))).toBe(reason)
    expect(receiver.text()).not.toContain('secret')
    expect(senders.counts.sent).toBe(0)
  },
)

test.each(['-tls1_2', '-tls1_3'])(
  'one that asks for a client certificate gets messages with it alone: %s',
  async (version) => {
    const trusted = join(directory, 'authority.crt')
    writeFileSync(trusted, authority.certificate)
    const asking = ['-Verify', '3', '-verify_return_error', '-CAfile', trusted, version]
    const receiver = await receive(6517, issue({}), asking)
    const senders = sending()
    senders.send(to(6517), 'bare')
    await until('the reason', () => senders.troubleOf(to(6517)) !== null)
    expect(senders.troubleOf(to(6517))).toMatch(/client certificate/)
    expect(senders.counts.sent).toBe(0)
    const own = issueCertificate({ issuer: authority })
    const showing = to(6517, { certificate: stored(own.certificate + own.key) })
    senders.send(showing, 'shown')
    await until('the message', () => receiver.text().includes('5 shown'))
    expect(receiver.text()).not.toContain('bare')
  },
)

test('one that is away costs what has no room, is told, and gets the rest once it is there', async () => {
  const senders = sending()
  const message = 'm'.repeat(1_000)
  for (let at = 0; at < 1_000; at++) senders.send(to(6518), message)
  expect(senders.counts.lost).toBeGreaterThan(700)
  const { lost } = senders.counts
  await until('the reason', () => senders.troubleOf(to(6518)) !== null)
  expect(senders.troubleOf(to(6518))).toBe('Connection refused')
  const first = await receive(6518, issue({}))
  await until('all that waited', () => senders.counts.sent === 1_000 - lost)
  const whole = `1000 ${message}`.repeat(1_000 - lost)
  await until('its end', () => first.text().includes(whole))
  expect(senders.troubleOf(to(6518))).toBeNull()
  await first.end()
  await until('the end of the connection', () => senders.troubleOf(to(6518)) !== null)
  senders.send(to(6518), 'later')
  const second = await receive(6518, issue({}))
  await until('what came meanwhile', () => second.text().includes('5 later'))
  expect(senders.counts.lost).toBe(lost)
})

test('a plain receiver is told of, and gets nothing in the clear', async () => {
  const plain = `require('net').createServer((socket) => socket.on('data', (data) => { console.log(String(data)); socket.end('what do you want?\\n') })).listen(6519, () => console.log('ACCEPT'))`
  const child = spawn('nsenter', [`--net=${netnsPath(TENANT)}`, '--', process.execPath, '-e', plain], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let text = ''
  child.stdout.on('data', (data: Buffer) => {
    text += data.toString('latin1')
  })
  await until('a receiver', () => text.includes('ACCEPT'))
  const senders = sending()
  senders.send(to(6519), 'secret')
  await until('the reason', () => senders.troubleOf(to(6519)) !== null)
  expect(senders.troubleOf(to(6519))).toBe('the receiver does not speak TLS')
  expect(text).not.toContain('secret')
})

test('what a receiver that ends still has to get is sent, and the process ends with it', async () => {
  const receiver = await receive(6520, issue({}))
  const senders = sending()
  senders.send(to(6520), 'one')
  await until('the first', () => receiver.text().includes('3 one'))
  for (let at = 0; at < 200; at++) senders.send(to(6520), `message ${at}`)
  senders.keep([])
  await until('the last', () => receiver.text().includes('message 199'))
  expect(senders.counts).toEqual({ sent: 201, lost: 0 })
})
