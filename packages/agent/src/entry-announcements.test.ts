import type { Announcement, Announcer } from '@spout/dataplane'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { announcementsOf, EntryAnnouncements, markTakeovers } from './entry-announcements.ts'
import { loadBalancerEntry } from './testing/entries.ts'

const one = (address: string, shard?: number): Announcement => ({
  address,
  scope: 'fabric',
  domain: 1,
  by: shard === undefined ? { via: 'l2' } : { via: 'vrrp', shard },
})
const signal = new AbortController().signal
const name = ({ address, by }: Announcement): string => `${address} ${Object.values(by).join()}`

/** An announcer that records what is announced. `told` counts the announcements that it was given. */
class Segment {
  readonly announced = new Map<string, Announcement>()
  readonly refused = new Set<string>()
  words = 'in use'
  told = 0
  fails = false
  #observed: readonly Announcement[] = []

  announcer(byDifference: boolean): Announcer {
    const outcomes = (wanted: readonly Announcement[]) =>
      wanted.map((announcement) => {
        const error = this.refused.has(announcement.address) ? this.words : null
        if (error === null) this.announced.set(name(announcement), announcement)
        return { announcement, error }
      })
    const whole: Announcer = {
      name: 'whole',
      adopt: async () => {},
      apply: async (wanted) => {
        if (this.fails) throw new Error('no answer')
        this.told += wanted.length
        this.announced.clear()
        return outcomes(wanted)
      },
      observe: async () => {
        const now = [...this.announced.values()]
        const same = now.length === this.#observed.length && now.every((each, index) => each === this.#observed[index])
        if (!same) this.#observed = now
        return this.#observed
      },
      close: async () => {},
    }
    if (!byDifference) return whole
    return {
      ...whole,
      change: async ({ come, go }) => {
        if (this.fails) throw new Error('no answer')
        this.told += come.length + go.length
        for (const gone of go) this.announced.delete(name(gone))
        return outcomes(come)
      },
    }
  }
}

describe.each([false, true])('announcements, told by the difference: %s', (byDifference) => {
  test('an address stays while another entry wants it', async () => {
    const segment = new Segment()
    const announcements = new EntryAnnouncements(segment.announcer(byDifference))
    await announcements.adopt(new Map())
    await announcements.apply(new Map([['lb/a', [one('192.0.2.1')]]]), signal)
    await announcements.apply(new Map([['lb/b', [one('192.0.2.1'), one('192.0.2.2')]]]), signal)
    await announcements.apply(new Map([['lb/a', []]]), signal)
    expect([...segment.announced.values()]).toEqual(expect.arrayContaining([one('192.0.2.1'), one('192.0.2.2')]))
    await announcements.apply(new Map([['lb/b', [one('192.0.2.1', 2)]]]), signal)
    expect([...segment.announced.values()]).toEqual([one('192.0.2.1', 2)])
    await announcements.apply(new Map([['lb/b', []]]), signal)
    expect(segment.announced.size).toBe(0)
  })

  test('a refused address is announced again, and nothing changes if the announcer throws', async () => {
    const segment = new Segment()
    const announcements = new EntryAnnouncements(segment.announcer(byDifference))
    await announcements.adopt(new Map())
    segment.refused.add('192.0.2.1')
    const requested = new Map([['lb/a', [one('192.0.2.1'), one('192.0.2.2')]]])
    expect(await announcements.apply(requested, signal)).toEqual(new Map([['lb/a', '192.0.2.1: in use']]))
    expect(announcements.announced('lb/a')).toEqual(['192.0.2.2'])
    // A text that begins with the address does not get it a second time.
    segment.words = '192.0.2.1 is in use'
    expect(await announcements.apply(requested, signal)).toEqual(new Map([['lb/a', '192.0.2.1 is in use']]))
    segment.refused.clear()
    segment.fails = true
    await expect(announcements.apply(requested, signal)).rejects.toThrow('no answer')
    expect(announcements.announced('lb/a')).toEqual(['192.0.2.2'])
    segment.fails = false
    expect(await announcements.apply(requested, signal)).toEqual(new Map())
    expect(segment.announced.size).toBe(2)
  })

  test('a lost address is reported once', async () => {
    const segment = new Segment()
    const announcements = new EntryAnnouncements(segment.announcer(byDifference))
    await announcements.adopt(new Map())
    const requested = new Map([['lb/a', [one('192.0.2.1'), one('192.0.2.2')]]])
    await announcements.apply(requested, signal)
    expect(await announcements.observe()).toEqual([])
    segment.announced.delete(name(one('192.0.2.2')))
    expect(await announcements.observe()).toEqual(['lb/a'])
    expect(await announcements.observe()).toEqual([])
    await announcements.apply(requested, signal)
    expect(segment.announced.size).toBe(2)
    expect(await announcements.observe()).toEqual([])
  })

  test('whatever changes, the segment has what the entries want', async () => {
    const requested = fc.tuple(fc.constantFrom('lb/a', 'lb/b', 'lb/c'), fc.uniqueArray(fc.nat(4), { maxLength: 3 }))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(requested, { maxLength: 3 }), { maxLength: 12 }), async (rounds) => {
        const segment = new Segment()
        const announcements = new EntryAnnouncements(segment.announcer(byDifference))
        await announcements.adopt(new Map())
        const wanted = new Map<string, readonly Announcement[]>()
        for (const round of rounds) {
          const changes = new Map(round.map(([key, numbers]) => [key, numbers.map((n) => one(`192.0.2.${n}`))]))
          for (const [key, announcements] of changes) wanted.set(key, announcements)
          await announcements.apply(changes, signal)
          const names = new Set([...wanted.values()].flat().map(name))
          expect(new Set(segment.announced.keys())).toEqual(names)
        }
      }),
    )
  })
})

test('an announcer that takes differences does not get the other addresses', async () => {
  const segment = new Segment()
  const announcements = new EntryAnnouncements(segment.announcer(true))
  const many = Array.from({ length: 1000 }, (_, n) => [`lb/${n}`, [one(`10.0.${n >> 8}.${n & 255}`)]] as const)
  await announcements.adopt(new Map())
  await announcements.apply(new Map(many), signal)
  segment.told = 0
  await announcements.apply(new Map([['lb/7', [one('192.0.2.7')]]]), signal)
  expect(segment.told).toBe(2)
})

test('an address that this node held without announcing it is taken over from another node', () => {
  const entry = loadBalancerEntry('a')
  const [vip] = entry.vips
  const more = { ...entry, vips: [...entry.vips, { ...vip!, address: '192.0.2.200' }] }
  const silent = { ...more, vips: more.vips.map((each, index) => (index === 0 ? { ...each, announce: null } : each)) }
  const requested = announcementsOf(more, new Set())
  expect(markTakeovers(requested, undefined)).toBe(requested)
  expect(markTakeovers(requested, more)).toBe(requested)
  expect(markTakeovers(requested, silent)).toEqual([{ ...requested[0], takeover: true }, requested[1]])
})
