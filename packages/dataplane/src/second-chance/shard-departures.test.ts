import type { SecondChance } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, expect, it } from 'vitest'
import { ShardDepartures } from './shard-departures.ts'

const SINCE = '2026-01-01T00:00:00.000Z'
const DOMAINS = new Map([
  [1, new Set([10, 11])],
  [2, new Set([20])],
])
const settings = (shards: readonly number[], since = SINCE): SecondChance => ({
  ...{ first: null, next: null, leavingSince: null, since, seconds: 60 },
  handedOver: { shards, since },
})

let clock: FakeClock
let done: string[]
let gone: Set<number>
let departures: ShardDepartures

beforeEach(() => {
  clock = new FakeClock()
  done = []
  gone = new Set()
  const proxies = {
    seeOff: async (since: string, domains: ReadonlySet<number>) => void done.push(`${[...domains]} seen off ${since}`),
    busy: async () => 1,
    endLeft: async (domains: ReadonlySet<number>) => void done.push(`${[...domains]} ended`),
  }
  departures = new ShardDepartures({ proxies, log: { debug: () => {}, info: () => {}, warn: () => {} }, clock })
})

const configure = (wanted: SecondChance | null) =>
  departures.configure(wanted, { gaveUp: (shard) => gone.has(shard), domainsOf: (shard) => DOMAINS.get(shard)! })

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

it('sees the clients of each shard off once that one has gone, and nobody else', async () => {
  configure(settings([1, 2]))
  await pass(5000)
  expect(done).toEqual([])
  gone.add(2)
  await pass(1000)
  expect(done).toEqual([`20 seen off ${SINCE}`])
  gone.add(1)
  await pass(1000)
  expect(done).toEqual([`20 seen off ${SINCE}`, `10,11 seen off ${SINCE}`])
  await departures.close()
})

it('ends what is left of a shard before its time is up, also when nothing is told of it any more', async () => {
  gone.add(1)
  configure(settings([1]))
  await pass(1000)
  configure(null)
  await pass(53_000)
  expect(done).toEqual([`10,11 seen off ${SINCE}`])
  await pass(2000)
  expect(done).toEqual([`10,11 seen off ${SINCE}`, '10,11 ended'])
  await departures.close()
})

it('ends nothing of a shard that came back', async () => {
  gone.add(1)
  configure(settings([1]))
  await pass(1000)
  gone.delete(1)
  await pass(60_000)
  expect(done).toEqual([`10,11 seen off ${SINCE}`])
  await departures.close()
})

it('takes a shard that is handed over again for a new one, and the same settings for the same', async () => {
  gone.add(1)
  for (const since of [SINCE, SINCE, '2026-01-01T00:00:20.000Z']) {
    configure(settings([1], since))
    await pass(1000)
  }
  expect(done).toEqual([`10,11 seen off ${SINCE}`, '10,11 seen off 2026-01-01T00:00:20.000Z'])
  await departures.close()
})

it('does nothing where no shard is handed over', async () => {
  gone.add(1)
  const { handedOver: _, ...plain } = settings([])
  configure({ ...plain, leavingSince: SINCE })
  await pass(70_000)
  expect(done).toEqual([])
  await departures.close()
})
