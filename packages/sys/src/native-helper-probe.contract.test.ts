import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceFlows } from './helper-protocol/conntrack.ts'
import { findLink } from './links.ts'
import { runIn } from './netns.ts'
import { type HelperUnderTest, refusal, startHelperUnderTest } from './testing/helper-under-test.ts'
import { SANITIZED } from './testing/native-builds.ts'
import { FAR, NEAR } from './testing/segment.ts'

describe('probes and announcements through the helper', () => {
  const { name, path } = SANITIZED
  let on: HelperUnderTest
  beforeAll(async () => {
    on = await startHelperUnderTest(path, `pr-${name[0]}`)
  })
  afterAll(async () => expect(await on?.end()).toEqual([]))

  beforeAll(async () => {
    await on.segment.serve(`
      const net = require('node:net')
      const start = (port, serve) => new Promise((done) => net.createServer(serve).listen(port, '::', done))
      Promise.all([
        start(8001, (socket) => socket.on('error', () => {}).once('data', (data) => socket.end('HTTP/1.0 200 OK\\r\\n\\r\\n' + data))),
        start(8002, (socket) => socket.on('error', () => {})),
        start(8003, (socket) => socket.on('error', () => {}).once('data', () => socket.resetAndDestroy())),
        start(8004, (socket) => socket.on('error', () => {}).write(Buffer.alloc(100000, 'x'))),
      ]).then(() => console.log('ready'))
    `)
  })

  const connect = (port: number, more: object = {}) =>
    on.helper.connect({ netns: on.netns, address: FAR.ip, port, timeoutMs: 2_000, ...more })

  test('connects', async () => {
    expect(await connect(8001)).toMatchObject({ connected: true, end: 'none' })
    expect(await connect(8001, { address: FAR.ip6, source: NEAR.ip6 })).toMatchObject({ connected: true })
    expect(await connect(9)).toMatchObject({ connected: false, reason: 'connection refused' })
    expect(await connect(9, { address: '203.0.113.1' })).toMatchObject({
      connected: false,
      reason: 'network is unreachable',
    })
    expect(await connect(80, { address: '10.77.0.200', timeoutMs: 50 })).toMatchObject({
      connected: false,
      reason: 'timed out',
    })
    expect(await refusal(connect(8001, { source: '203.0.113.1' }))).toMatchObject({ errno: 'EADDRNOTAVAIL' })
  })

  test('exchanges bytes, and says how reading ended', async () => {
    const send = Buffer.from('question')
    const answer = Buffer.from('HTTP/1.0 200 OK\r\n\r\nquestion')
    expect(await connect(8001, { send })).toMatchObject({ end: 'closed', received: answer })
    expect(await connect(8001, { send, maxBytes: 12 })).toMatchObject({ end: 'full', received: answer.subarray(0, 12) })
    expect(await connect(8002, { send, timeoutMs: 50 })).toMatchObject({ end: 'timeout', received: Buffer.alloc(0) })
    expect(await connect(8003, { send })).toMatchObject({ connected: true, end: 'reset' })
    const long = await connect(8004, { send, maxBytes: 65_536 })
    expect(long).toMatchObject({ end: 'full' })
    expect(long.connected && long.received.length).toBe(65_536)
  })

  test('gives a probe up at once when nobody waits for it any more, of every kind, sent or not', async () => {
    const target = { netns: on.netns, address: '10.77.0.222', timeoutMs: 3_600_000 }
    const gone = new AbortController()
    const helper = on.helper
    const kinds: readonly (() => Promise<unknown>)[] = [
      () => helper.connect({ ...target, port: 80 }, gone.signal),
      () => helper.udp({ ...target, port: 80 }, gone.signal),
      () => helper.ping(target, gone.signal),
      () => helper.sctp({ ...target, port: 80 }, gone.signal),
    ]
    const open = kinds.flatMap((ask) => Array.from({ length: 20 }, ask))
    await waitFor(async () => (await helper.stats()).probesInFlight === open.length, { what: 'the probes to be open' })
    gone.abort()
    await Promise.allSettled(open)
    expect((await helper.stats()).probesInFlight).toBe(0)
    expect(await refusal(helper.ping(target, gone.signal))).toMatchObject({ message: 'given up' })
    expect((await connect(8001)).connected).toBe(true)
  })

  test('keeps hundreds of probes in flight without holding up others', async () => {
    const silent = Array.from({ length: 600 }, (_, i) =>
      connect(80, { address: `10.77.0.${100 + (i % 100)}`, timeoutMs: 2_500 }),
    )
    const quick = await Promise.all(Array.from({ length: 200 }, () => connect(8001)))
    expect(quick.every((result) => result.connected)).toBe(true)
    expect((await on.helper.stats()).probesInFlight).toBeGreaterThan(0)
    expect((await Promise.all(silent)).every((result) => !result.connected)).toBe(true)
    expect((await on.helper.stats()).probesInFlight).toBe(0)
  })

  test('pings', async () => {
    const ping = (address: string, timeoutMs = 2_000) => on.helper.ping({ netns: on.netns, address, timeoutMs })
    const answers = await Promise.all([FAR.ip, FAR.ip6, NEAR.ip, FAR.ip].map((address) => ping(address)))
    expect(answers.every((answer) => answer.answered)).toBe(true)
    expect(await ping('10.77.0.201', 50)).toMatchObject({ answered: false, reason: 'timed out' })
    expect(await ping('203.0.113.1')).toMatchObject({ answered: false, reason: 'network is unreachable' })
  })

  test('asks for associations where nobody speaks SCTP', async () => {
    const ask = (address: string, timeoutMs = 2_000) =>
      on.helper.sctp({ netns: on.netns, address, port: 3868, timeoutMs })
    expect(await ask(FAR.ip)).toMatchObject({ accepted: false, reason: 'protocol not available', cause: null })
    expect(await ask(FAR.ip6)).toMatchObject({ accepted: false, reason: 'protocol not available' })
    expect(await ask('10.77.0.201', 50)).toMatchObject({ accepted: false, reason: 'timed out' })
    expect(await ask('203.0.113.1')).toMatchObject({ accepted: false, reason: 'network is unreachable' })
    expect((await on.helper.stats()).probesInFlight).toBe(0)
  })

  test('finds who holds an address on the segment', async () => {
    const mac = await macOf(on.segment.far, FAR.dev)
    const probe = (address: string, timeoutMs = 3_000) =>
      on.helper.arpProbe({ netns: on.netns, dev: NEAR.dev, address, timeoutMs })
    expect(await Promise.all([probe(FAR.ip), probe(FAR.ip6), probe(FAR.ip)])).toEqual([
      { answered: true, mac },
      { answered: true, mac },
      { answered: true, mac },
    ])
    expect(await probe('10.77.0.202', 60)).toEqual({ answered: false })
    expect(await probe('fd77::202', 60)).toEqual({ answered: false })
    expect(
      await refusal(on.helper.arpProbe({ netns: on.netns, dev: 'lo', address: '127.0.0.9', timeoutMs: 10 })),
    ).toMatchObject({
      errno: 'EOPNOTSUPP',
    })
  })

  test('announces addresses so that neighbours follow', async () => {
    const vips = ['10.77.0.50', 'fd77::50']
    // The far end has a wrong neighbour entry, which an announcement corrects.
    for (const vip of vips)
      await runIn(on.segment.far, [
        'ip',
        'neigh',
        'replace',
        vip,
        'lladdr',
        '02:00:00:00:00:99',
        'dev',
        FAR.dev,
        'nud',
        'stale',
      ])
    const announce = (count: number) =>
      on.helper.announce({ netns: on.netns, dev: NEAR.dev, addresses: vips, count, intervalMs: 60_000 })
    await announce(3)
    const neighbours = await runIn(on.segment.far, ['ip', 'neigh', 'show', 'dev', FAR.dev])
    const mac = await macOf(on.segment.near, NEAR.dev)
    for (const vip of vips) expect(neighbours).toContain(`${vip} lladdr ${mac}`)
    await announce(0)
    expect(
      await refusal(on.helper.announce({ netns: on.netns, dev: 'absent0', addresses: vips, count: 1, intervalMs: 1 })),
    ).toMatchObject({
      errno: 'ENODEV',
    })
  })

  test('repeats announcements until they are called off', async () => {
    const vip = '10.77.0.51'
    const wrong = [
      'ip',
      'neigh',
      'replace',
      vip,
      'lladdr',
      '02:00:00:00:00:99',
      'dev',
      FAR.dev,
      'nud',
      'stale',
    ] as const
    const holder = async () => (await runIn(on.segment.far, ['ip', 'neigh', 'show', vip])).trim()
    const announce = (count: number) =>
      on.helper.announce({ netns: on.netns, dev: NEAR.dev, addresses: [vip], count, intervalMs: 5 })
    await runIn(on.segment.far, [...wrong])
    await announce(1000)
    await runIn(on.segment.far, [...wrong])
    await expect.poll(holder, { timeout: 20_000 }).not.toContain('02:00:00:00:00:99')
    await announce(0)
    await runIn(on.segment.far, [...wrong])
    // The frames from before the cancellation are sent. The reply to a later request shows that the loop sent no more.
    await connect(8002, { send: Buffer.from('x'), timeoutMs: 50 })
    expect(await holder()).toContain('02:00:00:00:00:99')
  })

  test('finds the flows of few services among many', async () => {
    const flow = (at: number, to: string, port: number, member: string) => {
      const client = `10.7.${at >> 8}.${at & 255}`
      return [
        ...['-A', '-p', 'tcp', '-s', client, '-d', to, '--sport', '1024', '--dport', port],
        ...['--reply-src', member, '--reply-dst', client, '--reply-port-src', '8080', '--reply-port-dst', '1024'],
        ...['-t', '600', '--state', 'ESTABLISHED', '-u', 'ASSURED,SEEN_REPLY'],
      ].join(' ')
    }
    const [vip, other] = ['192.0.2.80', '192.0.2.81']
    const lines = [
      // More flows than the helper lets the kernel list for two services.
      ...Array.from({ length: 17_000 }, (_, at) => flow(at, other, 81, '10.250.0.99')),
      ...[1, 2, 3].map((at) => flow(at, vip, 80, '10.250.0.1')),
      ...[4, 5].map((at) => flow(at, vip, 80, '10.250.0.2')),
      flow(6, vip, 82, '10.250.0.2'),
    ]
    const directory = await mkdtemp(join(tmpdir(), 'spout-flows-'))
    await writeFile(join(directory, 'flows'), `${lines.join('\n')}\n`)
    await runIn(on.segment.near, ['conntrack', '-R', join(directory, 'flows')])
    await rm(directory, { recursive: true })
    const to = (port: number, ...members: string[]): ServiceFlows => {
      const ends = members.map((address) => ({ address, port: 8080 }))
      return { protocol: 'tcp', destination: vip, port, ...(members.length > 0 ? { members: ends } : {}) }
    }
    const forget = (...services: ServiceFlows[]) => on.helper.conntrackDelete({ netns: on.netns, services })
    expect(await forget(to(80, '10.250.0.9'))).toBe(0)
    expect(await forget(to(80, '10.250.0.1'))).toBe(3)
    expect(await forget(to(80, '10.250.0.1', '10.250.0.9'), to(82, '10.250.0.2'))).toBe(1)
    expect(await forget(to(80), to(82))).toBe(2)
    const all = { protocol: 'tcp', destination: other, port: 81 } as const
    expect(await forget(all)).toBe(17_000)
  })

  test('forgets flows to one destination alone', async () => {
    await runIn(on.segment.near, [
      'nft',
      'add table ip track; add chain ip track out { type filter hook output priority 0; }; add rule ip track out ct state new',
    ])
    await connect(8001)
    await connect(8002)
    const forgetAll = (...services: ServiceFlows[]) => on.helper.conntrackDelete({ netns: on.netns, services })
    const to = (port: number): ServiceFlows => ({ protocol: 'tcp', destination: FAR.ip, port })
    expect(await forgetAll(to(8001))).toBeGreaterThan(0)
    expect(await forgetAll(to(8001))).toBe(0)
    expect(await forgetAll(to(8002))).toBeGreaterThan(0)
    const elsewhere: ServiceFlows = { protocol: 'udp', destination: FAR.ip6, port: 53 }
    expect(await forgetAll(elsewhere)).toBe(0)
    expect(await forgetAll()).toBe(0)
    // Several services in one request.
    for (const port of [8001, 8002, 8003]) await connect(port)
    expect(await forgetAll(elsewhere, to(8003), to(8001), { ...to(8001), protocol: 'udp' })).toBe(2)
    expect(await forgetAll(to(8003), to(8001))).toBe(0)
    // Only flows of some members, and only flows that can carry no traffic.
    await connect(8001)
    const of = (address: string, port: number, unestablished = false): ServiceFlows => ({
      ...to(8001),
      members: [
        { address: NEAR.ip, port: 1 },
        { address: FAR.ip6, port: 8001 },
        { address, port },
      ],
      unestablished,
    })
    for (const beside of [[], [elsewhere], [of(NEAR.ip, 9)]]) {
      expect(await forgetAll(of(FAR.ip, 8002), ...beside)).toBe(0)
      expect(await forgetAll(of(NEAR.ip, 8001), ...beside)).toBe(0)
      expect(await forgetAll({ ...to(8001), members: [{ address: FAR.ip6, port: 8001 }] }, ...beside)).toBe(0)
    }
    // The same service twice, with different members. The flow to 8002 still exists.
    expect(await forgetAll(of(FAR.ip, 8002), { ...to(8002), members: [{ address: FAR.ip, port: 8002 }] })).toBe(1)
    const closed = await forgetAll(of(NEAR.ip, 8001), of(FAR.ip, 8001, true))
    expect(closed).toBeGreaterThan(0)
    expect(await forgetAll(of(FAR.ip, 8001))).toBe(0)
  })
})

async function macOf(netns: string, dev: string): Promise<string> {
  const link = await findLink({ netns, name: dev })
  if (link === null) throw new Error(`${netns} has no ${dev}`)
  return link.mac
}
