import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'

const signal = new AbortController().signal
const red = domainEntry(1)

const fabric = (address: string): Announcement => ({ address, scope: 'fabric', domain: 1, by: { via: 'l2' } })
const tenant = (address: string): Announcement => ({ address, scope: 'tenant', domain: 1, by: { via: 'l2' } })

let lab: Arrangement
let first: LabNode
let second: LabNode

beforeAll(async () => {
  lab = await Arrangement.create()
  first = await LabNode.start(lab, 'node1')
  second = await LabNode.start(lab, 'node2')
  await first.domains.adopt([])
  await first.domains.apply({ put: [red], remove: [] }, signal)
})

afterAll(async () => {
  await first?.domains.apply({ put: [], remove: [red.key] }, signal)
  await first?.die()
  await second?.die()
  await lab?.[Symbol.asyncDispose]()
})

const mac = async (place: string, link: string): Promise<string> =>
  ((await lab.run(place, `ip -j link show dev ${link}`)).match(/"address":"([0-9a-f:]+)"/) ?? [])[1] ?? ''

/** The link-layer address a host has for an address. */
const neighbour = async (place: string, address: string): Promise<string> =>
  ((await lab.run(place, `ip -j neigh show to ${address}`)).match(/"lladdr":"([0-9a-f:]+)"/) ?? [])[1] ?? ''

const announced = (outcomes: Awaited<ReturnType<LabNode['announcer']['apply']>>) =>
  outcomes.filter(({ error }) => error === null).map(({ announcement }) => announcement)

describe('L2Announcer', () => {
  it('answers for addresses, and no longer once they are withdrawn', async () => {
    const wanted = [fabric('10.9.0.200'), fabric('fd09::200'), tenant('10.0.0.200'), tenant('fd01::200')]
    expect(announced(await first.announcer.apply(wanted, signal))).toEqual(wanted)
    expect(await first.announcer.observe()).toEqual(wanted)
    await lab.run('client', 'ping -c 1 -W 2 10.9.0.200')
    await lab.run('client', 'ping -c 1 -W 2 fd09::200')
    await lab.run('red9', 'ping -c 1 -W 2 10.0.0.200')
    await lab.run('red9', 'ping -c 1 -W 2 fd01::200')
    await first.announcer.apply([], signal)
    expect(await first.announcer.observe()).toEqual([])
    await expect(lab.run('client', 'ping -c 1 -W 1 10.9.0.200')).rejects.toThrow()
  })

  it.each(['10.9.0.201', 'fd09::201'])('moves %s to the node that announced it last', async (address) => {
    await first.announcer.apply([fabric(address)], signal)
    await lab.run('client', `ping -c 1 -W 2 ${address}`)
    expect(await neighbour('client', address)).toBe(await mac('node1', 'fab0'))
    await second.announcer.apply([{ ...fabric(address), takeover: true }], signal)
    const there = await mac('node2', 'fab0')
    await expect.poll(() => neighbour('client', address)).toBe(there)
    await first.announcer.apply([], signal)
    await second.announcer.apply([], signal)
  })

  // RFC 5227 section 2.3: two announcements two seconds apart, which the first and third are. RFC 4861 section 7.2.6: up
  // to three, at least a second apart; the override flag makes neighbours take them for an entry they have.
  it.each([
    {
      address: '10.9.0.202',
      filter: 'arp and ether broadcast and arp[6:2] = 1 and arp[14:4] = 0x0a0900ca and arp[24:4] = 0x0a0900ca',
    },
    {
      address: 'fd09::202',
      filter: 'ether dst 33:33:00:00:00:01 and ip6[7] = 255 and icmp6 and ip6[40] = 136 and ip6[44] = 0x20',
    },
  ])('speaks three times for $address, a second apart', async ({ address, filter }) => {
    const command = ['ip', 'netns', 'exec', lab.namespace('client'), 'tcpdump', '-lnv', '-tt', '-i', 'eth0']
    const heard: string[] = []
    const tcpdump = spawn(command[0]!, [...command.slice(1), filter])
    try {
      const listening = new Promise((resolve) =>
        tcpdump.stderr.on('data', (data) => String(data).includes('listening') && resolve(null)),
      )
      createInterface({ input: tcpdump.stdout }).on('line', (line) => /^[0-9]/.test(line) && heard.push(line))
      await listening
      await first.announcer.apply([fabric(address)], signal)
      await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(3)
      for (const line of heard) expect(line).toContain(address)
      const times = heard.map((line) => Number(line.split(' ')[0]))
      // When they were sent, as the kernel says: the helper waits a whole interval after each.
      for (const [index, time] of times.slice(1).entries()) expect(time - times[index]!).toBeGreaterThan(0.99)
    } finally {
      tcpdump.kill('SIGKILL')
      await first.announcer.apply([], signal)
    }
  })

  it('adopts what an earlier process bound, without a change', async () => {
    const wanted = [fabric('10.9.0.203'), tenant('10.0.0.203')]
    await first.announcer.apply(wanted, signal)
    const next = await LabNode.start(lab, 'node1')
    await next.announcer.adopt(wanted)
    expect(announced(await next.announcer.apply(wanted, signal))).toEqual(wanted)
    expect(next.announcer.counters.changes).toBe(0)
    await next.announcer.apply([], signal)
    expect(await lab.run('node1', 'ip address show dev fab0')).not.toContain('10.9.0.203')
    await next.die()
    expect(await first.announcer.observe()).toEqual([])
  })

  it('binds again what somebody took away, and stops no other for one that fails', async () => {
    const wanted = [fabric('10.9.0.204'), { ...tenant('10.0.0.204'), domain: 99 }]
    const outcomes = await first.announcer.apply(wanted, signal)
    expect(outcomes.map(({ error }) => error === null)).toEqual([true, false])
    await lab.run('node1', 'ip address delete 10.9.0.204/32 dev fab0')
    expect(await first.announcer.observe()).toEqual([])
    expect(announced(await first.announcer.apply(wanted, signal))).toEqual([wanted[0]])
    await lab.run('client', 'ping -c 1 -W 2 10.9.0.204')
    await first.announcer.apply([], signal)
  })
})
