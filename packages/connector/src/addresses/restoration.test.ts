import type { Service } from '@spout/kube'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, it } from 'vitest'
import { Restoration } from './restoration.ts'

const service = (uid: string, ...ips: readonly string[]): Service => ({
  metadata: { name: uid, namespace: 'shop', uid },
  spec: {},
  status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
})

it('awaits for a while the addresses that were shown when the list was empty', async () => {
  const clock = new FakeClock()
  const restoration = new Restoration(clock)
  const [shows, bare, later] = [service('a', '198.51.100.16'), service('b'), service('c', '198.51.100.17')]
  expect(restoration.awaits(shows)).toBe(false)
  restoration.listed({ size: 0 })
  restoration.beginIfLost(() => [shows, bare])
  expect([shows, bare, later].map((one) => restoration.awaits(one))).toEqual([true, false, false])
  await clock.advance(119_999)
  expect(restoration.awaits(shows)).toBe(true)
  await clock.advance(1)
  expect(restoration.awaits(shows)).toBe(false)
})
