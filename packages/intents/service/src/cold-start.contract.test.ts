import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControllerBed, condition, ips, openControllerBed } from './testing/controller-bed.fixture.ts'

const COUNT = 40
const names = Array.from({ length: COUNT }, (_, at) => `cold-${at}`)

let bed: ControllerBed
beforeAll(async () => {
  bed = await openControllerBed()
  await bed.api.create('/api/v1/nodes', {
    metadata: { name: 'worker1' },
    spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.32' }] },
  })
  for (const name of names) {
    const endpoints = ['10.244.0.11', '10.244.0.12'].map((address) => ({ addresses: [address] }))
    const ports = [{ name: 'http', protocol: 'TCP' as const, port: 8080 }]
    await bed.slice(name, { addressType: 'IPv4', ports, endpoints })
    await bed.create(name)
  }
})
afterAll(() => bed.close())

test('a cold start refuses nothing: the routes to the pods exist before the first pod is a member', async () => {
  const running = await bed.start(
    { routesOfNetwork: 'pods' },
    {
      onCall: async (name) => {
        if (name !== 'replaceRoutes') return
        // Delays the routes. A Service that did not wait for them would be created during this time.
        const creating = () => running.calls.includes('create')
        await waitFor(creating, { what: 'somebody who does not wait', timeoutMs: 500 }).catch(() => {})
      },
    },
  )
  for (const name of names) {
    const one = await bed.when(name, 'an address', (now) => ips(now).length > 0)
    expect(condition(one)?.reason).not.toBe('EndpointsLeftOut')
    expect(bed.documentOf(one)?.pools[0]?.members).toHaveLength(2)
  }
  await bed.until('an empty queue', () => running.controller.counters.queued === 0)
  expect(running.controller.counters.refused).toBe(0)
  // One call for each Service: none was created a second time because its members were refused.
  expect(running.calls).toEqual(Array(COUNT).fill('create'))
})
