import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BgpAnnouncer } from './bgp-announcer.ts'
import { BirdRefused } from './bird-daemon.ts'
import {
  announcement,
  BgpLab,
  neighborOf,
  peerSettings,
  ROUTER,
  ROUTER_AS,
  settingsOf,
  VIP_PORT,
} from './lab/bgp-lab.ts'

const signal = new AbortController().signal
const SOON = { timeout: 20_000, interval: 20 }
const V4 = '192.0.2.1'
const PROFILE = { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 }
const bfd = { intervalMs: 80, multiplier: 3 }

let lab: BgpLab
let first: BgpAnnouncer
let second: BgpAnnouncer
let third: BgpAnnouncer

beforeAll(async () => {
  lab = await BgpLab.create(`spt${process.pid}f`, 3)
})
afterAll(() => lab?.[Symbol.asyncDispose]())
beforeEach(async () => {
  first = await lab.announcer(1)
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
    await first.configure(withSecret('wrong'), signal)
    await reason(first).toMatch(/TCP MD5 secret is another than the peer has/)
    await first.configure(withSecret(null), signal)
    await reason(first).toMatch(/peer signs with TCP MD5, and this session has no secret/)
    await first.configure(withSecret("right and 'proper'"), signal)
    await expect.poll(async () => (await sessionOf(first))?.state, SOON).toBe('established')
    expect((await sessionOf(first))?.lastError).toBeNull()
  })

  it('says which AS was expected', async () => {
    await lab.startRouter([neighborOf(1)])
    await first.configure(settingsOf(1, { peers: [peerSettings({ as: 64_999 })] }), signal)
    await reason(first).toMatch(/Bad peer AS.*expected 64999/)
    await first.configure(settingsOf(1, { localAs: 64_998 }), signal)
    await reason(first).toMatch(/Bad peer AS.*the peer expects another AS of us/)
  })

  it('says that a peer is not reached', async () => {
    await lab.startRouter([])
    await first.configure(settingsOf(1, { peers: [peerSettings({ address: '10.9.0.77' })] }), signal)
    await reason(first).toMatch(/no answer from 10\.9\.0\.77 port 179|No route to host/)
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
    await lab.router.configure([neighborOf(1)], many)
    await reason(first).toMatch(/more than 10 prefixes/)
    await first.apply([announcement(V4), announcement('192.0.2.2')], signal)
    await hopsOf('192.0.2.2/32').toEqual(['10.9.0.1'])
    expect(await sessionOf(first)).toMatchObject({ state: 'established', since: before, received: 10 })
    // Nothing of it is used.
    expect(await lab.run('node1', 'ip route show table all')).not.toContain('10.200.')
  })

  it('keeps the old configuration when the new one is refused', async () => {
    await lab.startRouter([neighborOf(1)])
    await first.configure(settingsOf(1), signal)
    await first.apply([announcement(V4)], signal)
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    const before = await sessionOf(first)
    const bad = settingsOf(1, { peers: [peerSettings({ md5Secret: 'a "quote"' })] })
    await expect(first.configure(bad, signal)).rejects.toThrow('peers[0].md5Secret holds a quotation mark')
    // The router of the lab runs in the same way; what our check would refuse before, its daemon does.
    await expect(lab.router.configure([neighborOf(1, { name: 'table' })])).rejects.toThrow(BirdRefused)
    expect(await sessionOf(first)).toEqual(before)
    expect(await lab.router.nextHops(`${V4}/32`)).toEqual(['10.9.0.1'])
  })

  it('loses its next hop at the router when its cable is cut, and has it again when it is mended', async () => {
    await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
    await bothUp()
    await lab.cable('node1', 'down')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.2'])
    await expect.poll(async () => (await sessionOf(first))?.bfd, SOON).toBe('down')
    await lab.cable('node1', 'up')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
  })

  it('goes on forwarding while a killed BGP daemon comes back: the router keeps its routes, no request fails', async () => {
    await lab.startRouter([neighborOf(1, { bfd })])
    await first.configure(settingsOf(1, { peers: [peerSettings({ bfd: PROFILE })] }), signal)
    await first.apply([announcement(V4)], signal)
    await expect.poll(async () => (await sessionOf(first))?.bfd, SOON).toBe('up')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1'])
    const { bgp, bfd: bfdPid } = first.pids
    const seen = new Set<string>()
    process.kill(bgp!, 'SIGKILL')
    const failures = await requestsUntil(async () => {
      seen.add((await lab.router.nextHops(`${V4}/32`)).join())
      const session = await sessionOf(first)
      return first.pids.bgp !== bgp && session?.state === 'established' && session.announced === 1
    })
    expect(failures).toEqual([])
    expect([...seen]).toEqual(['10.9.0.1'])
    expect(first.pids.bfd).toBe(bfdPid)
    expect(first.counters).toMatchObject({ changes: 1, starts: 3 })
  })

  it('leaves to the other node what it carried while a killed BFD daemon comes back', async () => {
    await lab.startRouter([neighborOf(1, { bfd }), neighborOf(2, { bfd })])
    await bothUp()
    const { bgp, bfd: bfdPid } = first.pids
    process.kill(bfdPid!, 'SIGKILL')
    await expect.poll(() => first.pids.bfd, SOON).not.toBe(bfdPid)
    await expect.poll(async () => (await sessionOf(first))?.bfd, SOON).toBe('up')
    await hopsOf(`${V4}/32`).toEqual(['10.9.0.1', '10.9.0.2'])
    expect(first.pids.bgp).toBe(bgp)
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
    const flows = Array.from({ length: 120 }, (_, index) => 20_000 + index)
    const hopOf = async (port: number): Promise<string> => {
      const flow = `${V4} from 203.0.113.10 iif cl0 ipproto tcp sport ${port} dport 80`
      return /via (\S+)/.exec(await lab.run('router', `ip route get ${flow}`))?.[1] ?? 'none'
    }
    const where = async (): Promise<readonly string[]> => {
      const hops: string[] = []
      for (const port of flows) hops.push(await hopOf(port))
      return hops
    }
    await expect.poll(async () => new Set(await where()).size, SOON).toBe(3)
    const before = await where()
    await first.apply([], signal)
    await expect.poll(async () => new Set(await where()).size, SOON).toBe(2)
    const after = await where()
    const moved = flows.filter((_, index) => before[index] !== '10.9.0.1' && before[index] !== after[index])
    // Of the nodes that stayed: none where the switch hashes resiliently, many where it does not.
    if (ecmp === 'resilient') expect(moved).toEqual([])
    else expect(moved.length).toBeGreaterThan(0)
  })

  it('drops the route with a malformed attribute alone, and goes on', async () => {
    await lab.startRouter([])
    await first.configure(settingsOf(1), signal)
    await first.apply([announcement(V4)], signal)
    const script = fileURLToPath(new URL('./lab/malformed-speaker.ts', import.meta.url))
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
      // The good route came after the malformed one, which therefore was looked at.
      await expect.poll(() => sessionOf(first), SOON).toMatchObject({ state: 'established', received: 1, announced: 1 })
      expect(speaker.exitCode).toBeNull()
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
