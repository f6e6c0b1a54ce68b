import type { DataPlaneDriver, GroupFollower } from '@spout/dataplane'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { NodeReadings } from './node-readings.ts'
import { Repeats } from './repeats.ts'
import { Reporter } from './reporter.ts'
import { RequestFigures } from './request-figures.ts'

test('traffic counters are read four times a second while a pool is watched, within a second of that, and else never', async () => {
  const clock = new FakeClock()
  const log = silentLogger()
  const health = { wantsTraffic: false, traffic: () => {} }
  let reads = 0
  const driver = {
    name: 'proxy',
    stats: async () => [],
    traffic: async () => {
      reads++
      return []
    },
  } satisfies Partial<DataPlaneDriver>
  const repeats = new Repeats(clock)
  const readings = new NodeReadings(
    {
      drivers: [driver as unknown as DataPlaneDriver],
      group: {} as GroupFollower,
      flows: async () => null,
      fabricAddress: async () => null,
      log,
    },
    {
      reporter: new Reporter({ session: 's', features: [], send: null, clock, log }),
      ...{ requests: new RequestFigures(), accessLogs: null, health: () => health, repeats },
    },
  )
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
