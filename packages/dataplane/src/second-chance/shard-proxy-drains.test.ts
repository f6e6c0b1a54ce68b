import type { SecondChance } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, expect, it } from 'vitest'
import { ShardProxyDrains } from './shard-proxy-drains.ts'

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
let drains: ShardProxyDrains

beforeEach(() => {
  clock = new FakeClock()
  done = []
  gone = new Set()
  const proxies = {
    closeGracefully: async (since: string, domains: ReadonlySet<number>) =>
      void done.push(`${[...domains]} closed gracefully ${since}`),
    busy: async () => 1,
    closeRemaining: async (domains: ReadonlySet<number>) => void done.push(`${[...domains]} ended`),
  }
  drains = new ShardProxyDrains({ proxies, log: { debug: () => {}, info: () => {}, warn: () => {} }, clock })
})

const configure = (wanted: SecondChance | null) =>
  drains.configure(wanted, { hasReleased: (shard) => gone.has(shard), domainsOf: (shard) => DOMAINS.get(shard)! })

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

it('drains the proxies of each shard once it has moved, and no others', async () => {
  configure(settings([1, 2]))
  await pass(5000)
  expect(done).toEqual([])
  gone.add(2)
  await pass(1000)
  expect(done).toEqual([`20 closed gracefully ${SINCE}`])
  gone.add(1)
  await pass(1000)
  expect(done).toEqual([`20 closed gracefully ${SINCE}`, `10,11 closed gracefully ${SINCE}`])
  await drains.close()
})

it('ends what is left of a shard before its deadline, also after it left the settings', async () => {
  gone.add(1)
  configure(settings([1]))
  await pass(1000)
  configure(null)
  await pass(53_000)
  expect(done).toEqual([`10,11 closed gracefully ${SINCE}`])
  await pass(2000)
  expect(done).toEqual([`10,11 closed gracefully ${SINCE}`, '10,11 ended'])
  await drains.close()
})

it('ends nothing of a shard that came back', async () => {
  gone.add(1)
  configure(settings([1]))
  await pass(1000)
  gone.delete(1)
  await pass(60_000)
  expect(done).toEqual([`10,11 closed gracefully ${SINCE}`])
  await drains.close()
})

it('drains again when a shard is handed over again; the same settings change nothing', async () => {
  gone.add(1)
  for (const since of [SINCE, SINCE, '2026-01-01T00:00:20.000Z']) {
    configure(settings([1], since))
    await pass(1000)
  }
  expect(done).toEqual([`10,11 closed gracefully ${SINCE}`, '10,11 closed gracefully 2026-01-01T00:00:20.000Z'])
  await drains.close()
})

it('does nothing where no shard is handed over', async () => {
  gone.add(1)
  const { handedOver: _, ...plain } = settings([])
  configure({ ...plain, leavingSince: SINCE })
  await pass(70_000)
  expect(done).toEqual([])
  await drains.close()
})
