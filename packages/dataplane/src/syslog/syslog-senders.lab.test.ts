import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { SyslogTarget } from '@spout/model/access-log'
import { systemClock } from '@spout/runtime'
import { createNetns, deleteNetns, ensureVeth, netnsPath, runIn } from '@spout/sys'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { silent } from '../testing/lab-node.ts'
import { MOST_RECEIVERS, SyslogSenders } from './syslog-senders.ts'

/** With sanitizers: it reads nothing that others may write, and must not leak while it runs for months. */
const EXECUTABLE = join(import.meta.dirname, '../../../../native/build/spout-syslog-asan')
const NODE = `spy${process.pid}-n`
const TENANT = `spy${process.pid}-t`
const RECEIVER = '10.78.0.2'
const RECEIVER6 = 'fd78::2'
const DOMAIN = 7
const UID = 0x2000_0000 + DOMAIN

beforeAll(async () => {
  await createNetns(NODE)
  await createNetns(TENANT)
  await ensureVeth({ netns: NODE, name: 'segment' }, { netns: TENANT, name: 'segment' })
  for (const [netns, end] of [
    [NODE, 1],
    [TENANT, 2],
  ] as const) {
    await runIn(netns, ['ip', 'address', 'add', `10.78.0.${end}/24`, 'dev', 'segment'])
    await runIn(netns, ['ip', 'address', 'add', `fd78::${end}/64`, 'dev', 'segment', 'nodad'])
  }
})
afterAll(async () => {
  await deleteNetns(NODE)
  await deleteNetns(TENANT)
})

/** A receiver in the tenant's network, which prints what it gets: of a connection its bytes, else a datagram. */
const RECEIVING = `
const [transport, port, reads] = process.argv.slice(1)
const say = (what) => console.log(JSON.stringify(what))
if (transport === 'udp')
  require('dgram').createSocket('udp6')
    .on('message', (data, from) => say({ data: String(data), from: from.address }))
    .bind(Number(port), () => say('ready'))
else
  require('net').createServer((socket) => {
    socket.on('error', () => {})
    if (reads === 'reads') socket.on('data', (data) => say({ data: String(data), from: socket.remoteAddress }))
    else say({ data: '', from: 'accepted' })
  }).listen(Number(port), '::', () => say('ready'))
`

interface Receiving {
  readonly said: { readonly data: string; readonly from: string }[]
  readonly process: ChildProcess
  readonly text: () => string
}

async function receive(transport: 'udp' | 'tcp', port: number, reads = 'reads'): Promise<Receiving> {
  const argv = [
    `--net=${netnsPath(TENANT)}`,
    '--',
    process.execPath,
    '-e',
    RECEIVING,
    '--',
    transport,
    `${port}`,
    reads,
  ]
  const child = spawn('nsenter', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => end(child))
  const said: Receiving['said'] = []
  const lines = createInterface(child.stdout)
  await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => Promise.reject(new Error('no receiver')))])
  lines.on('line', (line) => said.push(JSON.parse(line) as Receiving['said'][number]))
  return { said, process: child, text: () => said.map(({ data }) => data).join('') }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function sending(): SyslogSenders {
  const senders = new SyslogSenders({
    executable: EXECUTABLE,
    certificateFile: () => '',
    netns: () => netnsPath(NODE),
    uid: () => UID,
    clock: systemClock,
    log: silent,
  })
  onTestFinished(() => senders.close())
  return senders
}

const to = (transport: 'udp' | 'tcp', port: number, address = RECEIVER) => ({
  domain: DOMAIN,
  target: { transport, port, address } satisfies SyslogTarget,
})
const until = (what: string, holds: () => boolean) => waitFor(holds, { what })

/** Processes in the namespace. */
async function processesIn(netns: string): Promise<readonly number[]> {
  const { ino } = await stat(netnsPath(netns))
  const all = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
  const inside = await Promise.all(
    all.map(async (pid) => ((await readlink(`/proc/${pid}/ns/net`).catch(() => '')) === `net:[${ino}]` ? [+pid] : [])),
  )
  return inside.flat()
}

describe('messages', () => {
  test.each([
    ['udp', RECEIVER, '::ffff:10.78.0.1'],
    ['udp', RECEIVER6, 'fd78::1'],
    ['tcp', RECEIVER, '::ffff:10.78.0.1'],
    ['tcp', RECEIVER6, 'fd78::1'],
  ] as const)('go over %s to %s from the address that the node has there', async (transport, address, from) => {
    const receiver = await receive(transport, 5140)
    const senders = sending()
    for (const message of ['one', 'two \\ "', 'x'.repeat(20_000)]) senders.send(to(transport, 5140, address), message)
    const whole = `${'x'.repeat(20_000)}`
    await until('the last message', () => receiver.text().endsWith(whole))
    // RFC 6587: over TCP each has its length before it.
    if (transport === 'tcp') expect(receiver.text()).toBe(`3 one7 two \\ "20000 ${whole}`)
    else expect(receiver.said.map(({ data }) => data)).toEqual(['one', 'two \\ "', whole])
    expect(new Set(receiver.said.map((one) => one.from))).toEqual(new Set([from]))
    await until('the counts', () => senders.counts.sent === 3)
    expect(senders.counts).toEqual({ sent: 3, lost: 0 })
  })

  test('come from a process without rights, which ends with its domain', async () => {
    await receive('tcp', 5140)
    const senders = sending()
    senders.send(to('tcp', 5140), 'one')
    await until('the message', () => senders.counts.sent === 1)
    const [pid] = await processesIn(NODE)
    expect((await stat(`/proc/${pid}`)).uid).toBe(UID)
    await senders.stopDomain(DOMAIN)
    expect(await processesIn(NODE)).toEqual([])
  })

  test('that come before a receiver that is no longer wanted ends are still sent', async () => {
    const receiver = await receive('tcp', 5140)
    const senders = sending()
    for (let at = 0; at < 1_000; at++) senders.send(to('tcp', 5140), `message ${at}`)
    senders.keep([])
    await until('the last message', () => receiver.text().endsWith('message 999'))
    await waitFor(async () => (await processesIn(NODE)).length === 0, { what: 'the process to end' })
    expect(senders.counts).toEqual({ sent: 1_000, lost: 0 })
  })
})

describe('a receiver', () => {
  test('that is away costs what has no room, gets the rest once it is there, and again when it came back', async () => {
    const senders = sending()
    const message = 'm'.repeat(1_000)
    for (let at = 0; at < 1_000; at++) senders.send(to('tcp', 5141), message)
    expect(senders.counts.lost).toBeGreaterThan(500)
    const { lost } = senders.counts
    const first = await receive('tcp', 5141)
    const whole = (1_000 - lost) * `1000 ${message}`.length
    await until('all that waited', () => first.text().length >= whole)
    expect(first.text()).toBe(`1000 ${message}`.repeat(1_000 - lost))
    expect(senders.counts).toEqual({ sent: 1_000 - lost, lost })
    await end(first.process)
    senders.send(to('tcp', 5141), 'later')
    const second = await receive('tcp', 5141)
    await until('what came meanwhile', () => second.text() === '5 later')
    expect(senders.counts.lost).toBe(lost)
  })

  test('that reads nothing costs its own messages, and no other receiver of the same network one', async () => {
    const slow = await receive('tcp', 5142, 'never')
    const [quick, datagrams] = [await receive('tcp', 5143), await receive('udp', 5143)]
    const senders = sending()
    // More than the buffers of both ends of the connection take.
    const flood = () => {
      for (let at = 0; at < 200; at++) senders.send(to('tcp', 5142), 'f'.repeat(20_000))
      return senders.counts.lost > 2_000 && slow.said.length > 0
    }
    await waitFor(flood, { what: 'a full connection', timeoutMs: 15_000 })
    for (let at = 0; at < 50; at++) {
      senders.send(to('tcp', 5143), 'quick')
      senders.send(to('udp', 5143), 'datagram')
    }
    await until('the messages of others', () => quick.text() === '5 quick'.repeat(50) && datagrams.said.length === 50)
  })

  test('without a socket is told of as lost, over UDP', async () => {
    const senders = sending()
    await waitFor(
      () => {
        senders.send(to('udp', 5144), 'one')
        return senders.counts.lost > 0
      },
      { what: 'a refused datagram' },
    )
  })

  test('beyond the number of a network gets nothing', async () => {
    const senders = sending()
    const ports = Array.from({ length: MOST_RECEIVERS + 1 }, (_, at) => 5150 + at)
    for (const port of ports) senders.send(to('tcp', port), 'one')
    expect(senders.counts.lost).toBe(1)
    await waitFor(async () => (await processesIn(NODE)).length === MOST_RECEIVERS, { what: 'a process for each' })
  })

  test('whose process was killed gets messages from another', async () => {
    const receiver = await receive('tcp', 5140)
    const senders = sending()
    senders.send(to('tcp', 5140), 'one')
    await until('the first', () => senders.counts.sent === 1)
    for (const pid of await processesIn(NODE)) process.kill(pid, 'SIGKILL')
    await waitFor(
      () => {
        senders.send(to('tcp', 5140), 'again')
        return receiver.text().includes('again')
      },
      { what: 'a message of the next process' },
    )
  })
})
