import { type Clock, systemClock } from '@spout/runtime'
import { msSince, recordFault } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry } from '../../testing/entries.ts'
import { LabNode, silent } from '../../testing/lab-node.ts'
import { L2Announcer } from './l2-announcer.ts'

const signal = new AbortController().signal
const red = domainEntry(1)
const announce = (scope: Announcement['scope'], address: string): Announcement => ({
  address,
  scope,
  domain: 1,
  by: { via: 'l2' },
})

/** An address on each segment in each family, and the host that has it by its own configuration. */
const TAKEN = [
  { host: 'client', announcement: announce('fabric', '10.9.0.177') },
  { host: 'client', announcement: announce('fabric', 'fd09::177') },
  { host: 'red9', announcement: announce('tenant', '10.0.0.177') },
  { host: 'red9', announcement: announce('tenant', 'fd01::177') },
]
const FREE = announce('fabric', '10.9.0.178')

let lab: Arrangement
let node: LabNode
let announcer: L2Announcer
/** The announcer's time. */
let elapsedMs = 0
const clock: Clock = { ...systemClock, monotonicMs: () => elapsedMs }

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

beforeEach(async () => {
  announcer = new L2Announcer({ config: node.config, helper: node.helper, log: silent, clock })
  for (const { host, announcement } of TAKEN) await setHeld(host, announcement.address, true)
})

afterEach(async () => {
  await announcer.apply([], signal)
  for (const { host, announcement } of TAKEN) await setHeld(host, announcement.address, false)
})

const setHeld = (host: string, address: string, held: boolean): Promise<unknown> => {
  const isIpv6 = address.includes(':')
  const prefix = `${address}/${isIpv6 ? 128 : 32}`
  // Without `nodad` the host answers for it only some time after the command.
  const command = `ip address ${held ? 'add' : 'delete'} ${prefix} dev eth0${held && isIpv6 ? ' nodad' : ''}`
  return held ? lab.run(host, command) : lab.run(host, command).catch(() => {})
}

const macOf = async (host: string): Promise<string> => (await lab.run(host, 'cat /sys/class/net/eth0/address')).trim()

const refusals = async (): Promise<readonly { announcement: Announcement; error: string }[]> => {
  const refused: { announcement: Announcement; error: string }[] = []
  for (const { host, announcement } of TAKEN) {
    const error = `${announcement.address} is already on the wire at ${await macOf(host)}`
    refused.push({ announcement, error })
  }
  return refused
}

describe('an address that somebody else on the wire answers for', () => {
  it('is refused with the words who has it, and stops no other', async () => {
    const wanted = [...TAKEN.map(({ announcement }) => announcement), FREE]
    const refused = await refusals()
    const began = performance.now()
    const outcomes = await announcer.apply(wanted, signal)
    const told = msSince(began)
    expect(outcomes).toEqual([...refused, { announcement: FREE, error: null }])
    expect(await announcer.observe()).toEqual([FREE])
    expect(await lab.run('node1', 'ip address show dev fab0')).not.toContain('177')
    expect(announcer.counters).toMatchObject({ refused: 4, insisted: 0 })
    recordFault({
      fault: 'l2: address already on the wire',
      outcome: 'not taken, the reason names the MAC',
      figure: `${TAKEN.length} of ${TAKEN.length} found, reason after ${told}`,
    })
  })

  it('is taken when it is asked for again after the other let go', async () => {
    const [{ host, announcement }] = TAKEN as [(typeof TAKEN)[number]]
    const ask = async () => (await announcer.change({ come: [announcement], go: [] }, signal)).map(({ error }) => error)
    expect(await ask()).toEqual([expect.stringContaining('already on the wire')])
    await setHeld(host, announcement.address, false)
    expect(await ask()).toEqual([null])
    expect(await announcer.observe()).toEqual([announcement])
    expect(announcer.counters).toMatchObject({ refused: 1, insisted: 0 })
  })

  it('is taken in the end: the other may be a node of ours that nobody can tell to let go', async () => {
    const wanted = TAKEN.map(({ announcement }) => announcement)
    const ask = async () => (await announcer.apply(wanted, signal)).filter(({ error }) => error !== null)
    const refused = await refusals()
    expect(await ask()).toEqual(refused)
    elapsedMs += 29_999
    expect(await ask()).toEqual(refused)
    elapsedMs += 1
    expect(await ask()).toEqual([])
    expect(await announcer.observe()).toEqual(wanted)
    expect(announcer.counters).toMatchObject({ refused: 8, insisted: 4 })
  })

  it('is refused anew when nobody asked for it for a while', async () => {
    const [{ announcement }] = TAKEN as [(typeof TAKEN)[number]]
    await announcer.apply([announcement], signal)
    elapsedMs += 60_001
    expect(await announcer.apply([announcement], signal)).toMatchObject([{ error: expect.stringMatching(/wire/) }])
  })

  it('is taken at once from another node of the group', async () => {
    const wanted = TAKEN.map(({ announcement }): Announcement => ({ ...announcement, takeover: true }))
    expect((await announcer.apply(wanted, signal)).filter(({ error }) => error !== null)).toEqual([])
    expect(await announcer.observe()).toEqual(wanted)
    expect(announcer.counters).toMatchObject({ refused: 0, insisted: 0 })
  })
})
