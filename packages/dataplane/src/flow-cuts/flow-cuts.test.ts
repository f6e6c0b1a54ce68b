import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeClock } from '@spout/runtime/fake-clock'
import type { ConntrackDelete } from '@spout/sys'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { FlowCuts } from './flow-cuts.ts'
import { type TrackedEntry, trackedEntry } from './tracked-entry.ts'

let directory: string
/** The runs that timers started, which may not have ended yet. */
let runs: Promise<void>[]
beforeEach(async () => {
  runs = []
  directory = await mkdtemp(join(tmpdir(), 'spout-cuts-'))
})
afterEach(async () => {
  await Promise.all(runs)
  await rm(directory, { recursive: true })
})

const m1 = member('m1', '10.0.0.11')
const m2 = member('m2', '10.0.0.12')
const six = member('m6', 'fd01::11')
const entryOf = (members: Parameters<typeof pool>[1], down: readonly string[] = [], fields = {}): TrackedEntry =>
  trackedEntry(
    wanted(
      'a',
      domainEntry(1),
      {
        vips: [vip('10.9.0.100'), vip('fd09::100')],
        services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' })],
        pools: [pool(5, members, fields)],
      },
      down,
    ),
  )

function cutter(clock: FakeClock, file: string | null = null) {
  const asked: string[] = []
  let walks = 0
  let now: TrackedEntry | null = null
  const helper = {
    conntrackDelete: async ({ services }: ConntrackDelete) => {
      walks++
      for (const { protocol, destination, port, members = [], unestablished } of services) {
        const ends = members.map(({ address }) => address).join()
        asked.push(`${protocol} ${destination} ${port} ${ends}${unestablished ? ' unestablished' : ''}`)
      }
      return 1
    },
  }
  const cuts = new FlowCuts({
    helper,
    find: () => (now === null ? undefined : { netns: '/run/netns/d1', entry: now }),
    clock,
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    file,
    onDue: () => void runs.push(cuts.run()),
  })
  return {
    asked,
    cuts,
    go: async (next: TrackedEntry) => {
      cuts.follow(now, next)
      now = next
      await cuts.run()
    },
    adopt: (there: TrackedEntry) => {
      now = there
      return cuts.adopt([there])
    },
    take: () => asked.splice(0),
    walks: () => walks,
  }
}

it('has members that go one after the other share walks, and the first wait for nobody', async () => {
  const clock = new FakeClock()
  const { go, take, walks } = cutter(clock)
  const many = Array.from({ length: 250 }, (_, n) => member(`n${n}`, `10.0.1.${n}`))
  await go(entryOf(many))
  const down: string[] = []
  for (const { id } of many) {
    down.push(id)
    await go(entryOf(many, down))
    if (down.length === 1) expect(take()).toHaveLength(2)
    await clock.advance(4)
    await Promise.all(runs)
  }
  await clock.advance(10_000)
  await Promise.all(runs)
  const told = new Set(take().flatMap((line) => (line.startsWith('udp') ? line.split(' ')[3]!.split(',') : [])))
  expect(told.size).toBe(250)
  // At most 50 in the second in which the members left, and five rounds for each half of it.
  expect(walks()).toBeLessThan(65)
})

it('moves UDP flows of a lost member at once, and again while packets may bring them back', async () => {
  const clock = new FakeClock()
  const { go, take } = cutter(clock)
  await go(entryOf([m1, m2, six]))
  expect(take()).toEqual([])
  await go(entryOf([m1, m2, six], ['m2', 'm6']))
  const lost = [
    'tcp 10.9.0.100 80 10.0.0.12 unestablished',
    'tcp fd09::100 80 fd01::11 unestablished',
    'udp 10.9.0.100 53 10.0.0.12',
    'udp fd09::100 53 fd01::11',
  ]
  expect(take()).toEqual(lost)
  await clock.advance(1_000)
  expect(take()).toEqual(lost)
  await clock.advance(60_000)
  expect(take()).toHaveLength(3 * lost.length)
  expect(clock.timers).toBe(0)
})

it('leaves a member alone that is back, and cuts what is left when a drain is over', async () => {
  const clock = new FakeClock()
  const { go, take } = cutter(clock)
  await go(entryOf([m1, m2], [], { drainMs: 20_000 }))
  await go(entryOf([m1], [], { drainMs: 20_000 }))
  // A client that reuses the port of a closed connection must not reach the member that left.
  const dead = Array(5).fill('tcp 10.9.0.100 80 10.0.0.12 unestablished')
  await clock.advance(19_999)
  expect(take()).toEqual(dead)
  await go(entryOf([m1, m2], [], { drainMs: 20_000 }))
  await clock.advance(60_000)
  expect(take()).toEqual([])
  await go(entryOf([m1, { ...m2, weight: 0 }], [], { drainMs: 20_000 }))
  await clock.advance(20_000)
  expect(take()).toEqual([...dead, 'tcp 10.9.0.100 80 10.0.0.12', 'udp 10.9.0.100 53 10.0.0.12'])
})

it('goes on to cut all that a lost member had, also when it leaves meanwhile', async () => {
  const clock = new FakeClock()
  const { go, take } = cutter(clock)
  const resetOnDown = { resetOnDown: true }
  await go(entryOf([m1, m2], [], resetOnDown))
  await go(entryOf([m1, m2], ['m2'], resetOnDown))
  await go(entryOf([m1], [], resetOnDown))
  take()
  await clock.advance(1_000)
  expect(take()).toEqual(['tcp 10.9.0.100 80 10.0.0.12', 'udp 10.9.0.100 53 10.0.0.12'])
})

/** Many services, each with two members, of which some are down. */
const many = (count: number, down: readonly string[] = []): TrackedEntry => {
  const services = Array.from({ length: count }, (_, at) => service(`l${at}`, 1000 + at, 5))
  const pools = [pool(5, [m1, m2], { resetOnDown: true })]
  return trackedEntry(wanted('a', domainEntry(1), { vips: [vip('10.9.0.100')], services, pools }, down))
}
const cutsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `tcp 10.9.0.100 ${1000 + at} 10.0.0.12`)

it('lets others go first when many domains lose members, and leaves none out', async () => {
  const clock = new FakeClock()
  const asked: string[] = []
  const there = new Map<string, TrackedEntry>()
  const of = (number: number, down: readonly string[]) =>
    trackedEntry(
      wanted(
        `in-${number}`,
        domainEntry(number),
        { vips: [vip('10.9.0.100')], services: [service(`l${number}`, 80, 5)], pools: [pool(5, [m1, m2])] },
        down,
      ),
    )
  const cuts = new FlowCuts({
    helper: {
      conntrackDelete: async ({ netns }) => {
        asked.push(netns ?? '')
        return 1
      },
    },
    find: (key) => ({ netns: `d${there.get(key)?.domain}`, entry: there.get(key)! }),
    clock,
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    file: null,
    onDue: () => void runs.push(cuts.run()),
  })
  const domains = Array.from({ length: 20 }, (_, at) => at + 1)
  for (const down of [[], ['m2']])
    for (const number of domains) {
      const next = of(number, down)
      cuts.follow(there.get(next.key) ?? null, next)
      there.set(next.key, next)
    }
  await cuts.run()
  const all = domains.map((number) => `d${number}`)
  expect(asked).toEqual(all.slice(0, 8))
  await clock.advance(0)
  expect(asked.splice(0)).toEqual(all)
  for (let round = 1; round < 5; round++) {
    await clock.advance(1_000)
    expect(asked.splice(0)).toEqual(all)
  }
  await clock.advance(60_000)
  expect(asked).toEqual([])
})

it('asks once for all services of a domain', async () => {
  const clock = new FakeClock()
  const { go, take, walks } = cutter(clock)
  await go(many(2_000))
  await go(many(2_000, ['m2']))
  expect(take()).toEqual(cutsOf(2_000))
  expect(walks()).toBe(1)
  await clock.advance(60_000)
  expect(walks()).toBe(5)
})

it('forgets what it cannot reach any more', async () => {
  const clock = new FakeClock()
  const { go, cuts, take } = cutter(clock)
  await go(entryOf([m1, m2]))
  await go(entryOf([m1]))
  take()
  cuts.forget('lb/a')
  await cuts.run()
  expect(clock.timers).toBe(0)
  await go({ ...entryOf([m1, m2]) })
  await go({ ...entryOf([m1]), services: [] })
  await clock.advance(600_000)
  expect(take()).toEqual([])
})

it('cuts short the oldest drains of a load balancer whose members change all the time', async () => {
  const clock = new FakeClock()
  const file = join(directory, 'drains.json')
  const { go, take, cuts } = cutter(clock, file)
  const generation = (port: number) =>
    entryOf(
      Array.from({ length: 2_000 }, (_, at) => ({ ...member(`m${at}`, `10.0.${at >> 8}.${at & 255}`), port })),
      [],
      { slots: null, drainMs: 86_400_000 },
    )
  const takeWhole = () => take().filter((line) => !line.endsWith('unestablished'))
  for (const port of [1, 2, 3]) await go(generation(port))
  expect(takeWhole()).toEqual([])
  for (const port of [4, 5]) await go(generation(port))
  let kept: readonly { readonly end: { readonly port: number } }[] = []
  for (let round = 0; round < 5; round++) {
    await clock.advance(1_000)
    await cuts.run()
    kept = JSON.parse(await readFile(file, 'utf8'))
  }
  expect(kept).toHaveLength(10_000)
  expect(new Set(kept.map(({ end }) => end.port))).toEqual(new Set([2, 3, 4]))
  expect(takeWhole()).not.toEqual([])
  cuts.close()
})

it('goes on with drains after a restart, at the same deadline', async () => {
  const clock = new FakeClock()
  const file = join(directory, 'drains.json')
  const first = cutter(clock, file)
  await first.go(entryOf([m1, m2], [], { drainMs: 20_000 }))
  await first.go(entryOf([m1, { ...six, weight: 0 }], [], { drainMs: 20_000 }))
  first.cuts.close()
  expect(await readFile(file, 'utf8')).toContain('10.0.0.12')
  clock.jump(15_000)
  const second = cutter(clock, file)
  await second.adopt(entryOf([m1, { ...six, weight: 0 }], [], { drainMs: 20_000 }))
  await clock.advance(4_999)
  expect(second.take()).toEqual([])
  await clock.advance(1)
  expect(second.take().sort()).toEqual([
    'tcp 10.9.0.100 80 10.0.0.12',
    'tcp fd09::100 80 fd01::11',
    'udp 10.9.0.100 53 10.0.0.12',
    'udp fd09::100 53 fd01::11',
  ])
  second.cuts.close()
})
