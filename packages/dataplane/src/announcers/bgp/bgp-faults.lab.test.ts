import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { msSince, recordFault, WallClock } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../domain/run.ts'
import {
  announcement,
  BgpLab,
  neighborOf,
  peerSettings,
  ROUTER,
  ROUTER_AS,
  settingsOf,
  VIP_PORT,
} from '../../testing/bgp/bgp-lab.ts'
import type { BgpAnnouncer } from './bgp-announcer.ts'
import { BirdRefused } from './bird-daemon.ts'

const signal = new AbortController().signal
const FLAPS = 5
const SOON = { timeout: 20_000, interval: 20 }
const V4 = '192.0.2.1'
const PROFILE = { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 }
const bfd = { intervalMs: 80, multiplier: 3 }

let lab: BgpLab
let first: BgpAnnouncer
let second: BgpAnnouncer
let third: BgpAnnouncer
/** The wall clock of the daemons of node 1. */
let clock: WallClock

beforeAll(async () => {
  lab = await BgpLab.create(3)
  clock = await WallClock.create()
})
afterAll(async () => {
  await lab?.[Symbol.asyncDispose]()
  clock?.[Symbol.dispose]()
})
beforeEach(async () => {
  clock.set(0)
  first = await lab.announcer(1, { executable: clock.program('/usr/sbin/bird') })
  second = await lab.announcer(2)
  third = await lab.announcer(3)
})
afterEach(async () => {
  for (const announcer of [first, second, third]) {
    await announcer.apply([], signal)
    await announcer.configure(null, signal)
  }
})

const sessionOf = async (announcer: BgpAnnouncer) => (await announcer.sessions())[0]
const hopsOf = (prefix: string) => expect.poll(() => lab.router.nextHops(prefix), SOON)
const reason = (announcer: BgpAnnouncer) => expect.poll(async () => (await sessionOf(announcer))?.lastError, SOON)
const bothUp = async (own: Parameters<typeof peerSettings>[0] = {}) => {
  for (const [index, announcer] of [first, second].entries()) {
    await announcer.configure(settingsOf(index + 1, { peers: [peerSettings({ bfd: PROFILE, ...own })] }), signal)
    await announcer.apply([announcement(V4)], signal)
  }
  await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
  for (const announcer of [first, second])
    await expect.poll(async () => (await sessionOf(announcer))?.bfd, SOON).toBe('up')
}

/** Connects again and again, each time anew. @returns what the failures were, once `done` */
const requestsUntil = async (done: () => Promise<boolean>): Promise<readonly string[]> => {
  const failures: string[] = []
  for (let count = 0; count < 20 || !(await done()); count++) {
    const answer = await lab.client.connect(V4, VIP_PORT)
    if (!answer.startsWith('node')) failures.push(answer)
  }
  return failures
}

describe('BgpAnnouncer, when things go wrong', () => {
  it('comes up with the right MD5 secret, and says so of a wrong one', async () => {
    await lab.startRouter([neighborOf(1, { md5Secret: 'right and "proper"'.replaceAll('"', "'") })])
    const withSecret = (md5Secret: string | null) => settingsOf(1, { peers: [peerSettings({ md5Secret })] })
    const began = performance.now()
    await first.configure(withSecret('wrong'), signal)
    await reason(first).toMatch(/TCP MD5 secret differs from the peer's/)
    const told = msSince(began)
    await first.configure(withSecret(null), signal)
    await reason(first).toMatch(/peer signs with TCP MD5, and this session has no secret/)
    await first.configure(withSecret("right and 'proper'"), signal)
    await expect.poll(async () => (await sessionOf(first))?.state, SOON).toBe('established')
    expect((await sessionOf(first))?.lastError).toBeNull()
    recordFault({
      fault: 'bgp: wrong MD5 secret',
      outcome: 'said on the session; up once it is right',
      figure: `reason after ${told}`,
    })
  })

  it('says which AS was expected', async () => {
    await lab.startRouter([neighborOf(1)])
    const began = performance.now()
    await first.configure(settingsOf(1, { peers: [peerSettings({ as: 64_999 })] }), signal)
    await reason(first).toMatch(/Bad peer AS.*expected 64999/)
    recordFault({
      fault: 'bgp: AS mismatch',
      outcome: 'said on the session, with both numbers',
      figure: `reason after ${msSince(began)}`,
    })
    await first.configure(settingsOf(1, { localAs: 64_998 }), signal)
    await reason(first).toMatch(/Bad peer AS.*the peer expects another AS of us/)
  })

  it('says that a peer is not reached', async () => {
    await lab.startRouter([])
    const began = performance.now()
    await first.configure(settingsOf(1, { peers: [peerSettings({ address: '10.9.0.77' })] }), signal)
    await reason(first).toMatch(/no answer from 10\.9\.0\.77 port 179|No route to host/)
    recordFault({
      fault: 'bgp: peer unreachable',
      outcome: 'said on the session',
      figure: `reason after ${msSince(began)}`,
    })
    await first.configure(settingsOf(1, { peers: [peerSettings({ port: 1179 })] }), signal)
    await reason(first).toMatch(/refused/)
  })

  it('goes on when the peer sends more prefixes than it may', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `10.200.${index}.0/24`)
    await lab.startRouter([neighborOf(1)], { announces: many.slice(0, 5) })
    await first.configure(settingsOf(1), signal)
    await first.apply([announcement(V4)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    await expect.poll(async () => (await sessionOf(first))?.received, SOON).toBe(5)
    const before = (await sessionOf(first))?.since
    const began = performance.now()
    await lab.router.configure([neighborOf(1)], many)
    await reason(first).toMatch(/more than 10 prefixes/)
    const told = msSince(began)
    await first.apply([announcement(V4), announcement('192.0.2.2')], signal)
    await hopsOf('192.0.2.2/32').toEqual(['10.9.0.1'])
    expect(await sessionOf(first)).toMatchObject({ state: 'established', since: before, received: 10 })
    // No received route is used.
    expect(await lab.run('node1', 'ip route show table all')).not.toContain('10.200.')
    recordFault({
      fault: 'bgp: prefix limit',
      outcome: 'the session stays, what is over is dropped',
      figure: `reason after ${told}, 0 sessions lost`,
    })
  })

  it('keeps the old configuration when the new one is refused', async () => {
    await lab.startRouter([neighborOf(1)])
    await first.configure(settingsOf(1), signal)
    await first.apply([announcement(V4)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    const before = await sessionOf(first)
    const bad = settingsOf(1, { peers: [peerSettings({ md5Secret: 'a "quote"' })] })
    await expect(first.configure(bad, signal)).rejects.toThrow('peers[0].md5Secret contains a quotation mark')
    // For the lab's router there is no check of ours, so BIRD itself refuses.
    await expect(lab.router.configure([neighborOf(1, { name: 'table' })])).rejects.toThrow(BirdRefused)
    expect(await sessionOf(first)).toEqual(before)
    expect(await lab.router.nextHops(`${V4}/32`)).toEqual(['10.9.0.1'])
    recordFault({
      fault: 'bgp: configuration refused',
      outcome: 'the old one stays, the reason names the field',
      figure: '0 sessions lost, 0 routes lost',
    })
  })

  it('loses its next hop at the router when its cable is cut, and has it again when it is mended', async () => {
    await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
    await bothUp()
    const began = performance.now()
    await lab.cable('node1', 'down')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.2'])
    const left = msSince(began)
    await expect.poll(async () => (await sessionOf(first))?.bfd, SOON).toBe('down')
    await lab.cable('node1', 'up')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
    recordFault({
      fault: 'bgp: cable cut',
      outcome: 'BFD takes the next hop away; back when mended',
      figure: `left out after ${left}`,
    })
  })

  it('keeps a session that its router kept while BFD had lost it', async () => {
    const watched = { bfd, endsWithBfd: false, interface: 'fab0' }
    await lab.startRouter([neighborOf(1, watched), neighborOf(2, watched)])
    await bothUp({ holdTimeS: 90, keepaliveTimeS: 30 })
    const before = await sessionOf(first)
    // What each look of the announcer found, from the one that finds the loss on.
    const found: string[] = []
    first.onSessionChange(([session]) => found.push(`${session?.state}, BFD ${session?.bfd}`))
    await lab.port('node1', 'disabled')
    await expect.poll(() => found, SOON).toContain('established, BFD down')
    await lab.port('node1', 'forwarding')
    await expect.poll(() => found.at(-1), SOON).toBe('established, BFD up')
    expect(await sessionOf(first)).toMatchObject({ state: 'established', since: before?.since, replaceable: true })
    expect(await lab.router.nextHops(`${V4}/32`)).toEqual(['10.9.0.1', '10.9.0.2'])
    recordFault({
      fault: 'bgp: BFD loses a node for a moment, BGP does not',
      outcome: 'the node keeps the session',
      figure: '0 sessions ended, 0 routes lost',
    })
  })

  it('goes on forwarding while a killed BGP daemon comes back: the router keeps its routes, no request fails', async () => {
    await lab.startRouter([neighborOf(1, { bfd })])
    await first.configure(settingsOf(1, { peers: [peerSettings({ bfd: PROFILE })] }), signal)
    await first.apply([announcement(V4)], signal)
    await expect.poll(async () => (await sessionOf(first))?.bfd, SOON).toBe('up')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    const { bgp, bfd: bfdPid } = first.pids
    const seen = new Set<string>()
    const began = performance.now()
    process.kill(bgp!, 'SIGKILL')
    const failures = await requestsUntil(async () => {
      seen.add((await lab.router.nextHops(`${V4}/32`)).join())
      const session = await sessionOf(first)
      return first.pids.bgp !== bgp && session?.state === 'established' && session.announced === 1
    })
    const back = msSince(began)
    expect(failures).toEqual([])
    expect([...seen]).toEqual(['10.9.0.1'])
    expect(first.pids.bfd).toBe(bfdPid)
    expect(first.counters).toMatchObject({ changes: 1, starts: 3 })
    recordFault({
      fault: 'bgp: BIRD killed',
      outcome: 'started again, the router keeps its routes',
      figure: `session back after ${back}, 0 requests failed`,
    })
  })

  it('leaves to the other node what it carried while a killed BFD daemon comes back', async () => {
    await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
    await bothUp()
    const { bgp, bfd: bfdPid } = first.pids
    const began = performance.now()
    process.kill(bfdPid!, 'SIGKILL')
    await expect.poll(() => first.pids.bfd, SOON).not.toBe(bfdPid)
    await expect.poll(async () => (await sessionOf(first))?.bfd, SOON).toBe('up')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
    expect(first.pids.bgp).toBe(bgp)
    recordFault({
      fault: "bgp: BFD's BIRD killed",
      outcome: 'the other node carries on until it is back',
      figure: `both again after ${msSince(began)}`,
    })
  })

  it('comes back at a bounded rate while its cable flaps, and the other node is never left out', async () => {
    await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
    await bothUp()
    const prefix = `${V4}/32`
    const seen: string[] = []
    const sample = async () => {
      const hops = (await lab.router.nextHops(prefix)).join()
      if (seen.at(-1) !== hops) seen.push(hops)
      return hops
    }
    const bfdOf = async () => (await sessionOf(first))?.bfd
    for (let flap = 0; flap < FLAPS; flap++) {
      await lab.cable('node1', 'down')
      await expect.poll(sample, SOON).toBe('10.9.0.2')
      await expect.poll(bfdOf, SOON).toBe('down')
      await lab.cable('node1', 'up')
      // The link works again long before the session may come up.
      await expect
        .poll(async () => {
          await sample()
          return bfdOf()
        }, SOON)
        .toBe('up')
    }
    await expect.poll(sample, SOON).toBe('10.9.0.1,10.9.0.2')
    expect(seen.every((hops) => hops.includes('10.9.0.2'))).toBe(true)
    const returns = seen.filter((hops) => hops.includes('10.9.0.1')).length
    expect(returns).toBeLessThanOrEqual(FLAPS)
    recordFault({
      fault: 'bgp: link flaps',
      outcome: 'errors are waited out; the other node is always there',
      figure: `${returns} returns in ${FLAPS} flaps`,
    })
  })

  it('keeps session and routes when its wall clock jumps', async () => {
    await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
    await bothUp()
    const pids = first.pids
    const truth = async () => (await lab.router.sessions()).find(({ name }) => name === 'node1')?.since ?? 'no session'
    const since = await truth()
    const heard = async () => Number(await lab.run('node1', 'cat /sys/class/net/fab0/statistics/rx_packets'))
    const jumps = [3_600_000, -3_600_000, 86_400_000, 0]
    const shown = async () =>
      /Current server time is (\S+)/.exec(
        await lab.run('node1', `birdc -s ${lab.directory}/n1/bgp/ctl show status`),
      )?.[1]
    for (const aheadMs of jumps) {
      clock.set(aheadMs)
      expect(await shown()).toBe(new Date(Date.now() + aheadMs).toISOString().slice(0, 10))
      const from = await heard()
      // Longer than BFD waits for a packet, many times over.
      await expect.poll(heard, SOON).toBeGreaterThan(from + 40)
      expect(await lab.router.nextHops(`${V4}/32`)).toEqual(['10.9.0.1', '10.9.0.2'])
    }
    // The router computes it anew for each reply.
    expect(Math.abs(Date.parse(await truth()) - Date.parse(since))).toBeLessThan(1000)
    expect(await sessionOf(first)).toMatchObject({ state: 'established', bfd: 'up', announced: 1 })
    expect(first.pids).toEqual(pids)
    recordFault({
      fault: 'bgp: clock jumps',
      outcome: 'session, BFD and routes stay',
      figure: `0 sessions lost in ${jumps.length} jumps`,
    })
  })

  it('has the same sessions again after the router was started anew', async () => {
    await lab.startRouter([neighborOf(1)])
    await first.configure(settingsOf(1), signal)
    await first.apply([announcement(V4)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    await lab.router.stop()
    await expect.poll(async () => (await sessionOf(first))?.state, SOON).not.toBe('established')
    await lab.startRouter([neighborOf(1)])
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
  })

  it.each(['resilient', 'multipath'] as const)('leaves a node, where the router hashes by %s', async (ecmp) => {
    await lab.startRouter(
      [1, 2, 3].map((node) => neighborOf(node, { bfd })),
      { ecmp },
    )
    const nodes = [first, second, third]
    for (const [index, announcer] of nodes.entries()) {
      await announcer.configure(settingsOf(index + 1), signal)
      await announcer.apply([announcement(V4)], signal)
    }
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2', '10.9.0.3'])
    // The kernel gets the routes after the daemon. A flow that is looked up before keeps its bucket when a next hop
    // joins.
    const hopsOfKernel = async () =>
      (await run('ip', ['-n', lab.namespace('router'), 'route', 'show', `${V4}/32`])).match(/ via /g)?.length
    await expect.poll(hopsOfKernel, SOON).toBe(3)
    const flows = Array.from({ length: 120 }, (_, index) => 20_000 + index)
    const where = async (): Promise<readonly string[]> => {
      const ask = (port: number) => `route get ${V4} from 203.0.113.10 iif cl0 ipproto tcp sport ${port} dport 80`
      // One process for all: a hundred of them take longer than a busy machine has time here.
      const told = await run('ip', ['-n', lab.namespace('router'), '-batch', '-'], flows.map(ask).join('\n'))
      const hops = [...told.matchAll(/ via (\S+)/g)].map(([, hop]) => hop ?? '')
      expect(hops).toHaveLength(flows.length)
      return hops
    }
    await expect.poll(async () => new Set(await where()).size, SOON).toBe(3)
    const before = await where()
    await first.apply([], signal)
    await expect.poll(async () => new Set(await where()).size, SOON).toBe(2)
    const after = await where()
    const moved = flows.filter((_, index) => before[index] !== '10.9.0.1' && before[index] !== after[index])
    // Flows of the remaining nodes: none moves if the switch hashes resiliently, and many do if it does not.
    if (ecmp === 'resilient') expect(moved).toEqual([])
    else expect(moved.length).toBeGreaterThan(0)
  })

  it('drops the route with a malformed attribute alone, and goes on', async () => {
    await lab.startRouter([])
    await first.configure(settingsOf(1), signal)
    await first.apply([announcement(V4)], signal)
    const script = fileURLToPath(new URL('../../testing/bgp/malformed-speaker.ts', import.meta.url))
    const words = [
      'exec',
      lab.namespace('router'),
      process.execPath,
      script,
      '10.9.0.1',
      String(ROUTER_AS),
      ROUTER.address,
    ]
    const speaker = spawn('ip', ['netns', ...words], { stdio: 'ignore' })
    try {
      // The valid route came after the malformed one, so both were read.
      await expect.poll(() => sessionOf(first), SOON).toMatchObject({ state: 'established', received: 1, announced: 1 })
      expect(speaker.exitCode).toBeNull()
      recordFault({
        fault: 'bgp: malformed attribute',
        outcome: 'the session stays, the route does not',
        figure: '1 of 2 routes received, 0 sessions lost',
      })
    } finally {
      speaker.kill('SIGKILL')
    }
  })

  it('announces 1,000 addresses without a change of the daemon, and withdraws them', async () => {
    await lab.startRouter([neighborOf(1)])
    await first.configure(settingsOf(1), signal)
    const many = Array.from({ length: 1_000 }, (_, index) => announcement(`198.18.${index >> 8}.${index & 255}`))
    const outcomes = await first.apply(many, signal)
    expect(outcomes.every(({ error }) => error === null)).toBe(true)
    await expect.poll(async () => (await sessionOf(first))?.announced, SOON).toBe(1_000)
    await first.change({ come: [announcement(V4)], go: [] }, signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    await first.apply([], signal)
    await expect.poll(async () => (await sessionOf(first))?.announced, SOON).toBe(0)
    expect(first.counters).toMatchObject({ starts: 1, reconfigurations: 0 })
  })
})
