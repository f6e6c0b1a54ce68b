import type { SecondChance } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, expect, it } from 'vitest'
import { Departure } from './departure.ts'

const SINCE = '2026-01-01T00:00:00.000Z'
const settings = (fields: Partial<SecondChance> = {}): SecondChance => ({
  ...{ first: null, next: null, leavingSince: SINCE, since: SINCE, seconds: 60 },
  ...fields,
})

let clock: FakeClock
let done: string[]
let quiet: boolean
let clients: number
let departure: Departure

beforeEach(() => {
  clock = new FakeClock()
  done = []
  quiet = false
  clients = 2
  const proxies = {
    seeOff: async (since: string) => void done.push(`seen off ${since}`),
    busy: async () => clients,
    endLeft: async () => void done.push('ended'),
  }
  departure = new Departure({ proxies, log: { debug: () => {}, info: () => {}, warn: () => {} }, clock })
})

const configure = (wanted: SecondChance | null) =>
  departure.configure(wanted, { gaveUp: async () => quiet, answersForNothing: async () => quiet })

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

it('sees clients off once the node answers for nothing, and ends what is left before its time is up', async () => {
  configure(settings())
  await pass(5000)
  expect(done).toEqual([])
  quiet = true
  await pass(1000)
  expect(done).toEqual([`seen off ${SINCE}`])
  configure(settings({ since: '2026-01-01T00:00:10.000Z' }))
  await pass(48_000)
  expect(done).toEqual([`seen off ${SINCE}`])
  await pass(2000)
  expect(done).toEqual([`seen off ${SINCE}`, 'ended'])
  await departure.close()
})

it('sees nobody off when the drain is taken back before anything was given up', async () => {
  configure(settings())
  await pass(1000)
  configure(null)
  quiet = true
  await pass(10_000)
  expect(done).toEqual([])
  await departure.close()
})

it('still ends what is left of a drain that is over, unless the node has an address again', async () => {
  for (const again of [false, true]) {
    done = []
    quiet = true
    configure(settings({ leavingSince: `${again}` }))
    await pass(1000)
    configure(null)
    quiet = !again
    await pass(60_000)
    expect(done).toEqual([`seen off ${again}`, ...(again ? [] : ['ended'])])
  }
  await departure.close()
})

it('gives a short time to the last moment of it', async () => {
  quiet = true
  configure(settings({ seconds: 4 }))
  await pass(1900)
  expect(done).toEqual([`seen off ${SINCE}`])
  await pass(200)
  expect(done).toEqual([`seen off ${SINCE}`, 'ended'])
  await departure.close()
})

it('leaves everything to the next agent when it ends', async () => {
  configure(settings())
  await departure.close()
  quiet = true
  await pass(70_000)
  expect(done).toEqual([])
})

it('tells how far it is', async () => {
  const told: unknown[] = []
  departure.onChange((report) => told.push(report?.busyProxies))
  configure(settings())
  expect(departure.report).toEqual({ since: SINCE, busyProxies: null })
  quiet = true
  await pass(1000)
  expect(departure.report).toEqual({ since: SINCE, busyProxies: 2 })
  clients = 1
  await pass(2000)
  clients = 0
  await pass(2000)
  configure(settings())
  clients = 5
  await pass(2000)
  configure(null)
  expect(told).toEqual([null, 2, 1, 0, undefined])
  expect(departure.report).toBeNull()
  await departure.close()
})
