import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  announcement,
  BgpLab,
  NODE_AS,
  neighborOf,
  PEER_ID,
  PLAIN,
  peerSettings,
  ROUTER,
  settingsOf,
  VIP_PORT,
} from '../../testing/bgp/bgp-lab.ts'
import type { BgpAnnouncer } from './bgp-announcer.ts'

const signal = new AbortController().signal
/** Much longer than a session takes to come up, or a route to arrive. */
const SOON = { timeout: 20_000, interval: 20 }
const V4 = '192.0.2.1'
const V6 = '2001:db8::1'
const PROFILE = { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 }
const bfd = { intervalMs: 80, multiplier: 3 }

let lab: BgpLab
let first: BgpAnnouncer
let second: BgpAnnouncer

beforeAll(async () => {
  lab = await BgpLab.create()
})
afterAll(() => lab?.[Symbol.asyncDispose]())

beforeEach(async () => {
  await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
  first = await lab.announcer(1)
  second = await lab.announcer(2)
})
afterEach(async () => {
  for (const announcer of [first, second]) {
    await announcer.apply([], signal)
    await announcer.configure(null, signal)
  }
})

const stateOf = async (announcer: BgpAnnouncer) => (await announcer.sessions())[0]?.state
const established = (announcer: BgpAnnouncer) => expect.poll(() => stateOf(announcer), SOON).toBe('established')
const hopsOf = (prefix: string) => expect.poll(() => lab.router.nextHops(prefix), SOON)
const told = async (prefix: string) => (await lab.router.routes(prefix))[0]
/** The router's sessions, and when each began, in ms: one that was reset has another time. */
const sessions = async () =>
  (await lab.router.sessions()).map(({ name, since, bgpState }) => [name, bgpState, Date.parse(`${since}Z`)] as const)
/** Expects the same sessions. BIRD computes their start anew for each reply, which may differ by a millisecond. */
const expectKept = async (before: Awaited<ReturnType<typeof sessions>>) =>
  expect(await sessions()).toEqual(before.map(([name, state, since]) => [name, state, expect.closeTo(since, -2)]))

describe('BgpAnnouncer', () => {
  it('announces addresses of both families with what their advertisement says, from every node', async () => {
    const advertisements = [
      PLAIN,
      { ...PLAIN, number: 7, communities: ['64512:7', '65535:65281', '64512:1:7'], med: 50 },
    ]
    await first.configure(settingsOf(1, { advertisements }), signal)
    await second.configure(settingsOf(2, { advertisements }), signal)
    for (const announcer of [first, second])
      await announcer.apply([announcement(V4, 7), announcement(V6, 7), announcement('192.0.2.2')], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
    await hopsOf(`${V6}/128`).toEqual(['fd09::1', 'fd09::2'])
    expect(await lab.router.routes(`${V4}/32`)).toContainEqual({
      prefix: `${V4}/32`,
      from: 'node1',
      nextHop: '10.9.0.1',
      communities: ['64512:7', '65535:65281'],
      largeCommunities: ['64512:1:7'],
      localPreference: 100,
      med: 50,
      path: String(NODE_AS),
    })
    await expect.poll(() => told('192.0.2.2/32'), SOON).toMatchObject({ communities: [], med: null })
    expect(await lab.client.connect(V4, VIP_PORT)).toMatch(/^node[12] 203\.0\.113\.10$/)
    expect(await lab.client.connect(V6, VIP_PORT)).toMatch(/^node[12] fd0c::10$/)
    await lab.run('client', `ping -c 1 -W 2 ${V4}`)

    await first.change({ come: [], go: [announcement(V4, 7)] }, signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.2'])
    expect((await first.sessions())[0]).toMatchObject({
      peerId: PEER_ID,
      state: 'established',
      announced: 2,
      announcedByFamily: { ipv4: 1, ipv6: 1 },
      received: 0,
      lastError: null,
      holdTimeS: 9,
      keepaliveTimeS: 3,
    })
  })

  it('announces a prefix while an address in it is announced, without a routing loop', async () => {
    const advertisements = [{ ...PLAIN, aggregateLength4: 24, aggregateLength6: 64 }]
    await first.configure(settingsOf(1, { advertisements }), signal)
    await first.apply([announcement('192.0.2.1'), announcement('192.0.2.2'), announcement(V6)], signal)
    await hopsOf('192.0.2.0/24').toEqual(['10.9.0.1'])
    await hopsOf('2001:db8::/64').toEqual(['fd09::1'])
    expect(await lab.router.nextHops('192.0.2.1/32')).toEqual([])
    expect(await lab.client.connect('192.0.2.2', VIP_PORT)).toMatch(/^node1/)
    // If node and router passed the packet to each other, "Time to live exceeded" would come back.
    await expect(lab.run('client', 'ping -c 1 -W 1 192.0.2.77')).rejects.toThrow(/^(?!.*exceeded).*$/s)
    await first.change({ come: [], go: [announcement('192.0.2.1')] }, signal)
    expect(await lab.client.connect('192.0.2.2', VIP_PORT)).toMatch(/^node1/)
    await first.apply([], signal)
    await hopsOf('192.0.2.0/24').toEqual([])
    expect(await lab.run('node1', 'ip route show table all')).not.toContain('192.0.2.')
  })

  it('keeps its sessions while peers, communities and addresses change', async () => {
    const settings = settingsOf(1)
    await first.configure(settings, signal)
    await first.apply([announcement(V4)], signal)
    await second.configure(settingsOf(2), signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    await established(second)
    const before = await sessions()

    const other = peerSettings({ id: 'another', address: '10.9.0.2', as: NODE_AS })
    const changed = { ...PLAIN, communities: ['64512:1'] }
    await first.configure({ ...settings, peers: [...settings.peers, other] }, signal)
    await first.configure({ ...settings, peers: [...settings.peers, other], advertisements: [changed] }, signal)
    await expect.poll(() => told(`${V4}/32`), SOON).toMatchObject({ communities: ['64512:1'] })
    await first.configure({ ...settings, advertisements: [{ ...changed, aggregateLength4: 24 }] }, signal)
    await hopsOf('192.0.2.0/24').toEqual(['10.9.0.1'])
    await hopsOf(`${V4}/32`).toEqual([])
    await expectKept(before)
  })

  it('leaves traffic to the others before it withdraws', async () => {
    await first.configure(settingsOf(1), signal)
    await second.configure(settingsOf(2), signal)
    for (const announcer of [first, second]) await announcer.apply([announcement(V4)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
    const before = await sessions()
    await first.follow({ bgp: settingsOf(1, { drain: 'prefer-others' }) }, signal)
    expect([first.attracts(), first.hasReleased()]).toEqual([true, false])
    const communities = async () =>
      (await lab.router.routes(`${V4}/32`)).map((route) => [route.from, route.communities])
    await expect.poll(communities, SOON).toContainEqual(['node1', ['65535:0']])
    const withdrawn = first.follow({ bgp: settingsOf(1, { drain: 'withdrawn' }) }, signal)
    expect([first.attracts(), first.hasReleased()]).toEqual([true, false])
    await withdrawn
    expect([first.attracts(), first.hasReleased()]).toEqual([false, true])
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.2'])
    expect((await first.sessions())[0]).toMatchObject({ state: 'established', announced: 0 })
    await first.configure(settingsOf(1), signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
    await expectKept(before)
  })

  it('says local preference to peers of its own AS', async () => {
    await lab.startRouter([neighborOf(1)], { as: NODE_AS })
    const peers = [peerSettings({ as: NODE_AS })]
    await first.configure(settingsOf(1, { peers, advertisements: [{ ...PLAIN, localPreference: 300 }] }), signal)
    await first.apply([announcement(V4)], signal)
    await expect.poll(() => told(`${V4}/32`), SOON).toMatchObject({ localPreference: 300, path: '' })
    await first.configure(settingsOf(1, { peers, drain: 'prefer-others' }), signal)
    await expect.poll(() => told(`${V4}/32`), SOON).toMatchObject({ localPreference: 0 })
  })

  it('announces to those peers alone that the advertisement names', async () => {
    const other = peerSettings({ id: 'another', address: '10.9.0.2', as: NODE_AS })
    const settings = settingsOf(1, { advertisements: [PLAIN, { ...PLAIN, number: 2, peerIds: ['another'] }] })
    await first.configure({ ...settings, peers: [...settings.peers, other] }, signal)
    await first.apply([announcement(V4), announcement('192.0.2.2', 2)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    await expect
      .poll(async () => (await first.sessions()).find(({ state }) => state === 'established')?.announced)
      .toBe(1)
    expect(await lab.router.nextHops('192.0.2.2/32')).toEqual([])
  })

  it('announces both families over a session of IPv6', async () => {
    await lab.startRouter([neighborOf(1, { address: 'fd09::1', ttlSecurity: true })])
    const peers = [peerSettings({ address: ROUTER.address6, ttlSecurity: true })]
    await first.configure(settingsOf(1, { peers }), signal)
    await first.apply([announcement(V4), announcement(V6)], signal)
    await hopsOf(`${V4}/32`).toEqual(['fd09::1'])
    await hopsOf(`${V6}/128`).toEqual(['fd09::1'])
    expect(await lab.client.connect(V4, VIP_PORT)).toMatch(/^node1/)
  })

  it('speaks over several hops', async () => {
    // The router's address on its far side: two hops as the TTL goes.
    await lab.startRouter([
      neighborOf(1, { hops: 2, source: '203.0.113.1', families: ['ipv4'], bfd, ttlSecurity: true }),
    ])
    const far = { address: '203.0.113.1', sourceAddress: '10.9.0.1', hops: 2, families: ['ipv4'] } as const
    await first.configure(settingsOf(1, { peers: [peerSettings({ ...far, bfd: PROFILE, ttlSecurity: true })] }), signal)
    await first.apply([announcement(V4)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    await expect.poll(async () => (await first.sessions())[0]?.bfd, SOON).toBe('up')
  })

  it('speaks with any neighbour, without an address', async () => {
    const [, linkLocal = ''] =
      /inet6 (fe80\S+)\//.exec(await lab.run('node1', 'ip -6 address show dev fab0 scope link')) ?? []
    await lab.startRouter([neighborOf(1, { address: linkLocal, interface: 'fab0', bfd })])
    await first.configure(settingsOf(1, { peers: [peerSettings({ address: null, bfd: PROFILE })] }), signal)
    await first.apply([announcement(V4), announcement(V6)], signal)
    await hopsOf(`${V4}/32`).toEqual([linkLocal])
    await hopsOf(`${V6}/128`).toEqual([linkLocal])
    expect(await lab.client.connect(V4, VIP_PORT)).toMatch(/^node1/)
    await expect
      .poll(async () => (await first.sessions())[0], SOON)
      .toMatchObject({
        state: 'established',
        address: expect.stringMatching(/^fe80::/),
        bfd: 'up',
      })
  })

  it('reports changed sessions', async () => {
    const heard: (string | undefined)[] = []
    const stop = first.onSessionChange(([session]) => heard.push(session?.state))
    await first.configure(settingsOf(1), signal)
    await expect.poll(() => heard.at(-1), SOON).toBe('established')
    await lab.router.stop()
    await expect.poll(() => heard.at(-1), SOON).not.toBe('established')
    stop()
  })

  it('adopts daemons and routes of an agent that died, without a change', async () => {
    const settings = settingsOf(1, { peers: [peerSettings({ bfd: PROFILE })] })
    const wanted = [announcement(V4), announcement(V6)]
    await first.configure(settings, signal)
    await first.apply([...wanted, announcement('192.0.2.9')], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    const pids = first.pids
    const before = await sessions()
    first = await lab.announcer(1)
    await first.adopt(wanted)
    await first.configure(settings, signal)
    expect(await first.observe()).toEqual(wanted)
    expect(first.pids).toEqual(pids)
    expect(first.counters).toEqual({ changes: 0, starts: 0, reconfigurations: 0 })
    await first.apply(wanted, signal)
    // The route without an announcement is gone.
    await hopsOf('192.0.2.9/32').toEqual([])
    expect(await lab.router.nextHops(`${V4}/32`)).toEqual(['10.9.0.1'])
    await expectKept(before)
  })
})
