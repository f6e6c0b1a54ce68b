import type { SecondChance } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, expect, it } from 'vitest'
import { ProxyDrain } from './proxy-drain.ts'

const SINCE = '2026-01-01T00:00:00.000Z'
const settings = (fields: Partial<SecondChance> = {}): SecondChance => ({
  ...{ first: null, next: null, leavingSince: SINCE, since: SINCE, seconds: 60 },
  ...fields,
})

let clock: FakeClock
let done: string[]
let quiet: boolean
let clients: number
let drain: ProxyDrain

beforeEach(() => {
  clock = new FakeClock()
  done = []
  quiet = false
  clients = 2
  const proxies = {
    closeGracefully: async (since: string) => void done.push(`closed gracefully ${since}`),
    busy: async () => clients,
    closeRemaining: async () => void done.push('ended'),
  }
  drain = new ProxyDrain({ proxies, log: { debug: () => {}, info: () => {}, warn: () => {} }, clock })
})

const configure = (wanted: SecondChance | null) =>
  drain.configure(wanted, { hasReleased: async () => quiet, ownsNothing: async () => quiet })

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

it('closes connections gracefully once the node owns no address, and ends the rest before the deadline', async () => {
  configure(settings())
  await pass(5000)
  expect(done).toEqual([])
  quiet = true
  await pass(1000)
  expect(done).toEqual([`closed gracefully ${SINCE}`])
  configure(settings({ since: '2026-01-01T00:00:10.000Z' }))
  await pass(48_000)
  expect(done).toEqual([`closed gracefully ${SINCE}`])
  await pass(2000)
  expect(done).toEqual([`closed gracefully ${SINCE}`, 'ended'])
  await drain.close()
})

it('closes nothing when the drain is cancelled before an address was released', async () => {
  configure(settings())
  await pass(1000)
  configure(null)
  quiet = true
  await pass(10_000)
  expect(done).toEqual([])
  await drain.close()
})

it('still ends what is left of a drain that is over, unless the node owns an address again', async () => {
  for (const again of [false, true]) {
    done = []
    quiet = true
    configure(settings({ leavingSince: `${again}` }))
    await pass(1000)
    configure(null)
    quiet = !again
    await pass(60_000)
    expect(done).toEqual([`closed gracefully ${again}`, ...(again ? [] : ['ended'])])
  }
  await drain.close()
})

it('ends connections at half of a short time', async () => {
  quiet = true
  configure(settings({ seconds: 4 }))
  await pass(1900)
  expect(done).toEqual([`closed gracefully ${SINCE}`])
  await pass(200)
  expect(done).toEqual([`closed gracefully ${SINCE}`, 'ended'])
  await drain.close()
})

it('leaves everything to the next agent when it ends', async () => {
  configure(settings())
  await drain.close()
  quiet = true
  await pass(70_000)
  expect(done).toEqual([])
})

it('reports its progress', async () => {
  const told: unknown[] = []
  drain.onChange((report) => told.push(report?.busyProxies))
  configure(settings())
  expect(drain.report).toEqual({ since: SINCE, busyProxies: null })
  quiet = true
  await pass(1000)
  expect(drain.report).toEqual({ since: SINCE, busyProxies: 2 })
  clients = 1
  await pass(2000)
  clients = 0
  await pass(2000)
  configure(settings())
  clients = 5
  await pass(2000)
  configure(null)
  expect(told).toEqual([null, 2, 1, 0, undefined])
  expect(drain.report).toBeNull()
  await drain.close()
})
