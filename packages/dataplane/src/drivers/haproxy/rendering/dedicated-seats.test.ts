import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { proxyPlaceOf } from '../place/proxy-place.ts'
import { DEFAULT_OPTIONS } from '../sections/options.ts'
import { DedicatedSeats, MOST_SEATS, optionsIn } from './dedicated-seats.ts'

const place = proxyPlaceOf({ instance: 'ab' })
const [red, blue] = [place({ number: 7 }), place({ number: 8 })]

test('each load balancer of a network has ports of its own, which meet no others', () => {
  const seats = new DedicatedSeats()
  const places = Array.from({ length: MOST_SEATS }, (_, index) => seats.take(red, `lb${index}`, {}))
  const ranges = places.map((each) => optionsIn(each, DEFAULT_OPTIONS))
  for (const [index, { firstPort, mostFrontends }] of ranges.entries()) {
    expect(firstPort).toBeGreaterThanOrEqual(1_024)
    expect(firstPort + mostFrontends).toBeLessThanOrEqual(ranges[index + 1]?.firstPort ?? DEFAULT_OPTIONS.firstPort)
  }
  expect(new Set(places.map(({ name }) => name)).size).toBe(MOST_SEATS)
  expect(() => seats.take(red, 'one more', {})).toThrow(
    'the network has 62 dedicated proxies on this node, which is the most',
  )
  expect(seats.take(red, 'lb3', {})).toEqual(places[3])
  expect(seats.take(blue, 'one more', {}).dedicated?.seat).toBe(0)
  seats.free(places[5]!.name)
  expect(seats.take(red, 'one more', {}).dedicated?.seat).toBe(5)
})

test('limits of the class are those of the proxy, others stay', () => {
  const seats = new DedicatedSeats()
  expect(optionsIn(red, DEFAULT_OPTIONS)).toBe(DEFAULT_OPTIONS)
  expect(optionsIn(seats.take(red, 'a', { connections: 100 }), DEFAULT_OPTIONS).maxConnections).toBe(100)
  expect(optionsIn(seats.take(red, 'b', {}), DEFAULT_OPTIONS).maxConnections).toBe(DEFAULT_OPTIONS.maxConnections)
})

test('seats of proxies that an earlier agent left are known', async () => {
  const runDirectory = await mkdtemp(join(tmpdir(), 'spt-'))
  onTestFinished(() => rm(runDirectory, { recursive: true }))
  const before = new DedicatedSeats()
  const [a, b] = ['a', 'b'].map((id) => before.take(red, id, {}))
  for (const name of [a!.name, b!.name, red.name, 'other']) await mkdir(join(runDirectory, name))
  const next = new DedicatedSeats()
  await next.learn(runDirectory)
  expect(next.take(red, 'b', {})).toEqual(b)
  expect(next.take(red, 'c', {}).dedicated?.seat).toBe(2)
  next.keep(new Set([b!.name]))
  expect(next.take(red, 'd', {}).dedicated?.seat).toBe(0)
})
