import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { recordFault } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry } from '../../testing/entries.ts'
import { ManualClock } from '../../testing/l2/manual-clock.ts'
import { LabNode, silent } from '../../testing/lab-node.ts'
import { L2Announcer } from './l2-announcer.ts'

const signal = new AbortController().signal
const CLAIMER = fileURLToPath(new URL('../../../../sys/src/testing/claimer.py', import.meta.url))
const SOON = { timeout: 10_000, interval: 10 }
const FORGED = '02:00:00:00:00:99'
const red = domainEntry(1)
const announce = (scope: Announcement['scope'], address: string): Announcement => ({
  address,
  scope,
  domain: 1,
  by: { via: 'l2' },
})

/** An address in each family on each segment, who believes in the claim, and who makes it. */
const CLAIMED = [
  ['ARP on the fabric', announce('fabric', '10.9.0.181'), 'client', 'node2', 'fab0', 'arp-request'],
  ['an ARP reply on the fabric', announce('fabric', '10.9.0.182'), 'client', 'node2', 'fab0', 'arp-reply'],
  ['an advertisement on the fabric', announce('fabric', 'fd09::181'), 'client', 'node2', 'fab0', 'advertisement'],
  ["ARP on a tenant's segment", announce('tenant', '10.0.0.181'), 'red1', 'red9', 'eth0', 'arp-request'],
  ["an advertisement on a tenant's segment", announce('tenant', 'fd01::181'), 'red1', 'red9', 'eth0', 'advertisement'],
] as const

let lab: Arrangement
let node: LabNode
let announcer: L2Announcer
let time: ManualClock

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
})
afterAll(async () => {
  await node?.end([red.number])
  await lab?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  time = new ManualClock()
  announcer = new L2Announcer({ config: node.config, helper: node.helper, log: silent, clock: time.clock })
})
afterEach(async () => {
  await announcer.apply([], signal)
  await announcer.close()
})

const claim = async (place: string, dev: string, ...words: readonly string[]): Promise<void> => {
  const argv = ['netns', 'exec', lab.namespace(place), 'python3', CLAIMER, dev, ...words]
  const child = spawn('ip', argv, { stdio: ['ignore', 'ignore', 'inherit'] })
  expect(await once(child, 'close')).toEqual([0, null])
}
const neighbour = async (place: string, address: string): Promise<string> =>
  /"lladdr":"([0-9a-f:]+)"/.exec(await lab.run(place, `ip -j neigh show to ${address}`))?.[1] ?? ''
const macOf = async ({ scope }: Announcement): Promise<string> => {
  const inside = scope === 'fabric' ? '' : `nsenter --net=/run/netns/${node.config.instance}-d1 `
  const dev = scope === 'fabric' ? 'fab0' : 'segment'
  return /"address":"([0-9a-f:]+)"/.exec(await lab.run('node1', `${inside}ip -j link show dev ${dev}`))?.[1] ?? ''
}

/** Announces an address, and waits until a neighbour knows it. @returns the node's MAC address */
async function announced(wanted: Announcement, host: string): Promise<string> {
  const { address } = wanted
  expect(await announcer.apply([wanted], signal)).toMatchObject([{ error: null }])
  // Asks again each second: floods of other tests fill the queue of packets that all namespaces share.
  await lab.run(host, `ping -c 1 -w 9 ${address}`)
  const own = await macOf(wanted)
  await expect.poll(() => neighbour(host, address), SOON).toBe(own)
  // Cancels the further rounds, which would correct the neighbour, too.
  await node.helper.announce({ ...placeOf(wanted), addresses: [address], count: 0, intervalMs: 1000 })
  return own
}

/**
 * Records all frames that tell the whole segment who owns an address, as a neighbour gets them: sender, and time in
 * seconds. The neighbour may also ask the owner itself after five seconds; such an answer is not recorded.
 */
async function listen(
  place: string,
  address: string,
): Promise<{ heard: string[]; times: number[]; child: ChildProcess }> {
  const isIpv6 = address.includes(':')
  const what = `ether multicast and ${isIpv6 ? 'icmp6 and ip6[40] == 136' : 'arp'}`
  const argv = ['netns', 'exec', lab.namespace(place), 'tcpdump', '-ttelni', 'eth0', ...what.split(' ')]
  const child = spawn('ip', argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const heard: string[] = []
  const times: number[] = []
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (!(isIpv6 ? [address] : [`tell ${address},`, `${address} is-at`]).some((words) => line.includes(words))) return
    heard.push(/([0-9a-f:]{17}) >/.exec(line)?.[1] ?? line)
    times.push(Number(line.split(' ')[0]))
  })
  await once(child.stderr!, 'data')
  return { heard, times, child }
}

describe('an address of this node that somebody else claims', () => {
  it.each(CLAIMED)('by %s is announced once more, and everybody follows', async (what, wanted, host, by, dev, kind) => {
    const { address } = wanted
    const own = await announced(wanted, host)
    const changes: (readonly unknown[])[] = []
    announcer.onConflicts((conflicts) => changes.push(conflicts))
    const { heard, times, child } = await listen(host, address)
    try {
      await claim(by, dev, kind, address, FORGED)
      await expect.poll(() => heard, SOON).toEqual([FORGED, own])
      await expect.poll(() => neighbour(host, address), SOON).toBe(own)
      expect(announcer.conflicts()).toEqual([{ address, mac: FORGED, since: expect.any(String) }])
      recordFault({
        fault: `l2: address claimed by ${what}`,
        outcome: 'announced again, the neighbour is back',
        figure: `after ${(1000 * (times[1]! - times[0]!)).toFixed(2)} ms`,
      })
    } finally {
      child.kill('SIGKILL')
    }
    time.elapsedMs = 60_000
    for (const fire of time.timers.splice(0)) fire()
    expect(changes.map((conflicts) => conflicts.length)).toEqual([1, 0])
  })

  it.each(CLAIMED)('by %s again and again is answered once: two that defend would never end', async (...row) => {
    const [, wanted, host, by, dev, kind] = row
    const { address } = wanted
    const own = await announced(wanted, host)
    const { heard, child } = await listen(host, address)
    try {
      // All claims at once, since after ten seconds the address would be announced again.
      await claim(by, dev, kind, address, FORGED, '6')
      await expect.poll(() => heard.length, SOON).toBe(7)
      expect(heard.filter((mac) => mac === own)).toHaveLength(1)
      await expect.poll(() => announcer.counters.defended, SOON).toBe(1)
      expect(announcer.conflicts()).toEqual([{ address, mac: FORGED, since: expect.any(String) }])
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('is defended by the next helper too, and no longer once it is withdrawn', async () => {
    const wanted = announce('fabric', '10.9.0.183')
    await announcer.apply([wanted], signal)
    const lost = node.helper.pid
    process.kill(lost!, 'SIGKILL')
    await expect.poll(() => node.helper.pid ?? lost, SOON).not.toBe(lost)
    await expect
      .poll(async () => {
        await claim('node2', 'fab0', 'arp-request', wanted.address, FORGED)
        return announcer.counters.defended
      }, SOON)
      .toBe(1)
    await announcer.apply([], signal)
    expect(announcer.conflicts()).toEqual([])
    const { heard, child } = await listen('client', wanted.address)
    await claim('node2', 'fab0', 'arp-request', wanted.address, FORGED)
    await expect.poll(() => heard, SOON).toEqual([FORGED])
    child.kill('SIGKILL')
    expect(announcer.counters.defended).toBe(1)
  })

  it('answers at most a hundred claims a second in a flood', async () => {
    const many = Array.from({ length: 150 }, (_, index) => announce('tenant', `10.0.1.${index}`))
    await announcer.apply(many, signal)
    await claim('red9', 'eth0', 'flood', ...many.map(({ address }) => address))
    await expect.poll(() => announcer.counters.defended, SOON).toBeGreaterThanOrEqual(100)
    const { defended } = announcer.counters
    expect(defended).toBeLessThanOrEqual(150)
    // The other segment is watched all the while.
    await announcer.apply([...many, announce('fabric', '10.9.0.184')], signal)
    await claim('node2', 'fab0', 'arp-request', '10.9.0.184', FORGED)
    await expect.poll(() => announcer.conflicts().map(({ address }) => address), SOON).toContain('10.9.0.184')
    recordFault({
      fault: 'l2: flood of claims on a segment',
      outcome: 'the kernel drops what is over 100 a second',
      figure: `${defended} announcements for ${50 * many.length} claims`,
    })
  })
})

const placeOf = ({ scope }: Announcement) =>
  scope === 'fabric'
    ? { netns: `/run/netns/${lab.namespace('node1')}`, dev: 'fab0' }
    : { netns: `/run/netns/${node.config.instance}-d1`, dev: 'segment' }
