import type { Network } from '@spout/model'
import type { Logger } from '@spout/runtime'
import { expect, it } from 'vitest'
import type { LoadBalancerService, PodRoute } from '../control-plane/load-balancer-service.ts'
import { bringRoutes } from './pod-network.ts'

const log = { warn: () => {} } as unknown as Logger
const wanted: readonly PodRoute[] = [
  { to: '10.1.1.0/24', via: '100.127.0.1', node: 'a' },
  { to: '10.1.2.0/24', via: '100.127.0.1', node: 'b' },
]

/** What the control plane is asked to set, for a network that has these routes. */
async function asked(returnPath: Network['returnPath'], routes: readonly PodRoute[] = []): Promise<unknown> {
  let request: readonly PodRoute[] | null = null
  const service = {
    network: async () => ({ id: 'n', cidrs: ['100.127.0.0/20'], returnPath, routes }),
    replaceRoutes: async (_: string, next: readonly PodRoute[]) => {
      request = next
    },
  } as unknown as LoadBalancerService
  await bringRoutes(service, 'pods', wanted, log)
  return request
}

it('routes name their nodes with return path node alone', async () => {
  expect(await asked('node')).toEqual(wanted)
  expect(await asked('snat')).toEqual(wanted.map(({ to, via }) => ({ to, via })))
})

it('pods that are on another node now get another route; the same again is no change', async () => {
  expect(await asked('node', wanted)).toBeNull()
  expect(await asked('node', [{ ...wanted[0]!, node: 'b' }, wanted[1]!])).toEqual(wanted)
  expect(
    await asked('snat', [
      { to: '10.1.2.0/24', via: '100.127.0.1' },
      { to: '10.1.1.0/24', via: '100.127.0.1' },
    ]),
  ).toBeNull()
})
