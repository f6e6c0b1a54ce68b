import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, it } from 'vitest'
import { domainEntry } from '../../../testing/entries.ts'
import { type ProxyPlace, proxyPlaceOf } from '../place/proxy-place.ts'
import { proxyNameOf, sharedProxyName } from '../rendering/dedicated-seats.ts'
import { OpenProxies, type WantedProxy } from './open-proxies.ts'

const GRACE_MS = 1_000
const red = domainEntry(1)
const blue = domainEntry(2)

const sharedOf = (domain: typeof red): WantedProxy => ({ name: sharedProxyName(domain.number), domain })
function ownOf(loadBalancerId: string): WantedProxy {
  const dedicated = { loadBalancerId, dedicatedProxy: {} }
  return { name: proxyNameOf({ domain: red.number, ...dedicated }), domain: red, dedicated }
}

/** A proxy without a process, whose stop ends when the test says so. */
class Stage {
  readonly place: ProxyPlace
  readonly after: Promise<void> | undefined
  readonly stopped = Promise.withResolvers<void>()
  keys: readonly string[] = []
  stops = 0
  closes = 0

  constructor(place: ProxyPlace, after: Promise<void> | undefined) {
    this.place = place
    this.after = after
  }

  stop(): Promise<void> {
    this.stops++
    return this.stopped.promise
  }

  async close(): Promise<void> {
    this.closes++
  }
}

function registry() {
  const clock = new FakeClock()
  const warnings: object[] = []
  const proxies = new OpenProxies<Stage>({
    place: proxyPlaceOf({ instance: 'ab' }),
    make: (place, _domain, after) => new Stage(place, after),
    options: { graceMs: GRACE_MS, runDirectory: '/absent' },
    clock,
    log: { debug: () => {}, info: () => {}, warn: (fields) => warnings.push(fields) },
  })
  return { clock, proxies, warnings }
}

it('opens a proxy once, and finds it by name and by domain', () => {
  const { proxies } = registry()
  const one = proxies.open(sharedOf(red))
  expect(proxies.open(sharedOf(red))).toBe(one)
  const own = proxies.open(ownOf('lb1'))
  const other = proxies.open(sharedOf(blue))
  expect(proxies.get(ownOf('lb1').name)).toBe(own)
  expect(own.place).toMatchObject({ namespace: one.place.namespace, dedicated: { loadBalancerId: 'lb1', seat: 0 } })
  expect(proxies.all(new Set([1]))).toEqual([one, own])
  expect(proxies.all()).toEqual([one, own, other])
})

it('stops a proxy that had no entry for the grace time', async () => {
  const { clock, proxies } = registry()
  const busy = proxies.open(sharedOf(red))
  busy.keys = ['lb/a']
  proxies.stopIfIdle('1')
  const idle = proxies.open(sharedOf(blue))
  proxies.stopIfIdle('2')
  await clock.advance(GRACE_MS - 1)
  expect([busy.stops, idle.stops]).toEqual([0, 0])
  await clock.advance(1)
  expect([busy.stops, idle.stops]).toEqual([0, 1])
  expect(proxies.all()).toEqual([busy])
})

it('keeps an idle proxy that is needed again in time', async () => {
  const { clock, proxies } = registry()
  const one = proxies.open(sharedOf(red))
  proxies.stopIfIdle('1')
  await clock.advance(GRACE_MS - 1)
  expect(proxies.open(sharedOf(red))).toBe(one)
  await clock.advance(GRACE_MS)
  expect(one.stops).toBe(0)
})

it('has a new proxy wait for the stop of the one before, which keeps its seat meanwhile', async () => {
  const { proxies } = registry()
  const first = proxies.open(ownOf('lb1'))
  const stop = proxies.stopDomain(1)
  expect(proxies.all()).toEqual([])
  const second = proxies.open(ownOf('lb1'))
  expect(second).not.toBe(first)
  first.stopped.resolve()
  await Promise.all([stop, second.after])
  expect(second.place).toEqual(first.place)
  expect(proxies.open(ownOf('lb2')).place.dedicated?.seat).toBe(1)
})

it('frees the seat of a proxy that was stopped', async () => {
  const { proxies } = registry()
  proxies.open(ownOf('lb1')).stopped.resolve()
  await proxies.stopDomain(1)
  expect(proxies.open(ownOf('lb2')).place.dedicated?.seat).toBe(0)
})

it('tells of an idle proxy that does not stop', async () => {
  const { clock, proxies, warnings } = registry()
  const one = proxies.open(sharedOf(red))
  proxies.stopIfIdle('1')
  await clock.advance(GRACE_MS)
  one.stopped.reject(new Error('no way'))
  await expect.poll(() => warnings).toEqual([{ proxy: '1', error: 'Error: no way' }])
})

it('stops nothing once it is closed', async () => {
  const { clock, proxies } = registry()
  const one = proxies.open(sharedOf(red))
  proxies.stopIfIdle('1')
  await proxies.close()
  await clock.advance(GRACE_MS)
  expect([one.closes, one.stops]).toEqual([1, 0])
})
