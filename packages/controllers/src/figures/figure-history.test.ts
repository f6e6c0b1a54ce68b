import type { ServiceStats } from '@spout/model'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, test } from 'vitest'
import { FigureHistory } from './figure-history.ts'

const MINUTE_MS = 60_000
const ONE: ServiceStats = {
  ...{ loadBalancerId: 'l', listenerId: 'i' },
  ...{ bytesIn: 0, bytesOut: 0, activeConnections: 0, totalConnections: 0, requestErrors: 0 },
}

let clock: FakeClock
let counted: Map<string, ServiceStats>
beforeEach(() => {
  clock = new FakeClock()
  counted = new Map()
})

const open = (mostBytes = 1 << 20) => new FigureHistory({ clock, mostBytes, counted: (id) => [counted.get(id) ?? ONE] })

/** The node reports every five seconds what `more` adds. */
async function traffic(history: FigureHistory, seconds: number, more: Partial<ServiceStats>, id = 'l'): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    const before = counted.get(id) ?? ONE
    const sum = (field: 'bytesIn' | 'bytesOut' | 'totalConnections') => before[field] + (more[field] ?? 0)
    counted.set(id, {
      ...{ ...before, ...more },
      ...{ bytesIn: sum('bytesIn'), bytesOut: sum('bytesOut'), totalConnections: sum('totalConnections') },
    })
    history.moved(id)
    await clock.advance(5000)
  }
}
/** The last steps of a series. */
const last = (
  history: FigureHistory,
  name: 'connectionsPerSecond' | 'openConnections' | 'bytesInPerSecond',
  count: number,
  span: 'hour' | 'day' = 'hour',
) => history.read('l', span).series[name]?.slice(-count)

test('rates of now, and steps of a minute with what they had per second', async () => {
  const history = open()
  const told: string[] = []
  history.onRates((id) => told.push(id))
  expect(history.rates('l')).toBeNull()
  await traffic(history, 120, { totalConnections: 10, bytesIn: 500, bytesOut: 1500, activeConnections: 3 })
  expect(history.rates('l')).toEqual({ connectionsPerSecond: 2, bytesPerSecond: 400 })
  expect(told).toEqual(['l'])
  const { from, stepSeconds, series } = history.read('l', 'hour')
  expect(stepSeconds).toBe(60)
  expect(Date.parse(from)).toBe(clock.now().getTime() - 59 * MINUTE_MS)
  expect(series.connectionsPerSecond).toHaveLength(60)
  // The first step began before the first look; the one that has just begun was not looked at.
  expect(series.connectionsPerSecond?.slice(-4)).toEqual([null, 2, 2, null])
  expect(Object.keys(series)).not.toContain('requestsPerSecond')
})

test('the step that is being counted has the figures of its time so far', async () => {
  const history = open()
  await traffic(history, 80, { totalConnections: 10 })
  expect(last(history, 'connectionsPerSecond', 2)).toEqual([2, 2])
})

test('a pause is zero, its open connections stay open, and what comes after counts from its own time', async () => {
  const history = open()
  await traffic(history, 60, { totalConnections: 10, activeConnections: 3 })
  await clock.advance(30 * MINUTE_MS)
  expect(last(history, 'connectionsPerSecond', 29)).toEqual(Array.from({ length: 29 }, () => 0))
  expect(last(history, 'openConnections', 29)).toEqual(Array.from({ length: 29 }, () => 3))
  expect(clock.timers).toBe(0)
  await traffic(history, 60, { totalConnections: 10 })
  const [idle, busy] = last(history, 'connectionsPerSecond', 3) ?? []
  expect(idle).toBe(0)
  expect(busy).toBeGreaterThan(1.8)
  expect(busy).toBeLessThanOrEqual(2)
})

test('a day has steps of ten minutes', async () => {
  const history = open()
  await traffic(history, 1200, { totalConnections: 10 })
  expect(history.read('l', 'day').series.connectionsPerSecond).toHaveLength(144)
  expect(last(history, 'connectionsPerSecond', 3, 'day')?.[1]).toBeCloseTo(2)
})

test('requests, answers by class and quantiles of their durations', async () => {
  const history = open()
  const responses = { '1xx': 0, '2xx': 50, '3xx': 0, '4xx': 5, '5xx': 5 }
  const http = { requests: 60, responses, latencies: [[10, 60]] as const }
  counted.set('l', { ...ONE, totalConnections: 1, bytesIn: 1, http })
  history.moved('l')
  await clock.advance(MINUTE_MS)
  const { series } = history.read('l', 'hour')
  const at = (name: keyof typeof series) => series[name]?.find((value) => value !== null && value > 0)
  expect(at('requestsPerSecond')).toBeCloseTo(1, 0)
  expect(at('responses2xxPerSecond')! / at('responses5xxPerSecond')!).toBeCloseTo(10)
  expect(at('latencyP99Ms')).toBeCloseTo(0.01)
  await clock.advance(5 * MINUTE_MS)
  expect(history.read('l', 'hour').series.latencyP50Ms?.slice(-2)).toEqual([null, null])
})

describe('the limit of bytes', () => {
  test('load balancers without traffic take none', async () => {
    const history = open()
    for (let n = 0; n < 100; n++) history.moved(`idle ${n}`)
    await clock.advance(MINUTE_MS)
    expect(history.bytes).toBe(0)
    expect(clock.timers).toBe(0)
  })

  test('a new one replaces the one that was idle longest; while none is idle it is not kept', async () => {
    const one = open(1 << 20)
    await traffic(one, 10, { totalConnections: 1 })
    const history = open(2 * one.bytes)
    for (const id of ['a', 'b', 'c']) await traffic(history, 10, { totalConnections: 1 }, id)
    const known = () => ['a', 'b', 'c'].filter((id) => history.rates(id) !== null)
    expect(known()).toEqual(['a', 'b'])
    await clock.advance(15 * MINUTE_MS)
    await traffic(history, 10, { totalConnections: 1 }, 'a')
    await traffic(history, 10, { totalConnections: 1 }, 'c')
    expect(known()).toEqual(['a', 'c'])
    expect(history.bytes).toBeLessThanOrEqual(2 * one.bytes)
    for (const id of ['a', 'c']) history.forget(id)
    expect(history.bytes).toBe(0)
  })

  test('none is kept without bytes', async () => {
    const history = open(0)
    await traffic(history, 60, { totalConnections: 1 })
    expect(history.read('l', 'hour').series).toEqual({})
    expect(clock.timers).toBe(0)
  })

  test('one that would take more than there are is dropped', async () => {
    const one = open()
    await traffic(one, 10, { totalConnections: 1 })
    const history = open(one.bytes)
    await traffic(history, 10, { totalConnections: 1 })
    const responses = { '1xx': 0, '2xx': 1, '3xx': 0, '4xx': 0, '5xx': 0 }
    await traffic(history, 10, { totalConnections: 1, http: { requests: 1, responses } })
    expect([history.bytes, history.rates('l')]).toEqual([0, null])
  })
})
