import type { DataPlaneDriver, GroupFollower, ShareWatch } from '@spout/dataplane'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { NodeReadings } from './node-readings.ts'
import { Repeats } from './repeats.ts'
import { Reporter } from './reporter.ts'
import { RequestFigures } from './request-figures.ts'

/** Readings of a node with this driver, and shares that are looked at. */
function readingsOf(driver: Partial<DataPlaneDriver>, shares?: Pick<ShareWatch, 'look'>) {
  const clock = new FakeClock()
  const log = silentLogger()
  const health = { wantsTraffic: false, traffic: () => {} }
  const repeats = new Repeats(clock)
  const readings = new NodeReadings(
    {
      drivers: [driver as DataPlaneDriver],
      group: {} as GroupFollower,
      flows: async () => null,
      fabricAddress: async () => null,
      ...(shares && { shares: shares as ShareWatch }),
      log,
    },
    {
      reporter: new Reporter({ session: 's', features: () => [], send: null, clock, log }),
      ...{ requests: new RequestFigures(), accessLogs: null, health: () => health, repeats },
    },
  )
  return { clock, health, repeats, readings }
}

test('traffic counters are read four times a second while a pool is watched, within a second of that, and else never', async () => {
  let reads = 0
  const { clock, health, repeats, readings } = readingsOf({
    name: 'proxy',
    stats: async () => [],
    traffic: async () => {
      reads++
      return []
    },
  })
  const readsIn = async (ms: number): Promise<number> => {
    const before = reads
    await clock.advance(ms)
    return reads - before
  }
  readings.start()
  expect(await readsIn(10_000)).toBe(0)
  health.wantsTraffic = true
  expect(await readsIn(1000)).toBe(1)
  expect(await readsIn(1000)).toBe(4)
  health.wantsTraffic = false
  expect(await readsIn(10_000)).toBe(0)
  repeats.close()
})

test('shares are looked at when the agent starts, and then every 5 s', async () => {
  let looks = 0
  const look = async () => {
    looks++
    return []
  }
  const { clock, repeats, readings } = readingsOf({ name: 'proxy', stats: async () => [] }, { look })
  readings.start()
  await clock.advance(0)
  expect(looks).toBe(1)
  await clock.advance(4999)
  expect(looks).toBe(1)
  await clock.advance(1)
  expect(looks).toBe(2)
  repeats.close()
})
