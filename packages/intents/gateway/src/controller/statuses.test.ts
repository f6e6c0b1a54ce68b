import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import { gatewayWith, http, routeWith, serviceOf, surroundingsOf, to } from '../testing/objects.ts'
import { compileGateway } from '../to-model/gateways/compile-gateway.ts'
import type { Cluster } from './cluster.ts'
import { Statuses } from './statuses.ts'

const surroundings = surroundingsOf([serviceOf('a')])
const routes = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    routeWith({ rules: [{ backendRefs: [to('a')] }] }, { name: `r${at}`, number: at + 10 }),
  )

test('numbers of routes alone are written five times a second at most, and everything else at once', async () => {
  const clock = new FakeClock()
  const written: (number | undefined)[] = []
  let gateway: Gateway = gatewayWith([http('web')])
  const cluster = {
    gateway: () => gateway,
    writeGateway: async (_: Gateway, status: GatewayStatus) => {
      gateway = { ...gateway, status }
      written.push(status.listeners?.[0]?.attachedRoutes)
    },
  } as unknown as Cluster
  const statuses = new Statuses({ cluster, clock })
  const tell = (count: number, progress: 'pending' | 'programmed') =>
    statuses.tellGateway(gateway, compileGateway(gateway, routes(count), surroundings), {
      progress:
        progress === 'pending' ? { type: 'pending', reason: 'x', message: 'x' } : { type: 'programmed', notice: null },
      addresses: ['198.51.100.10'],
    })
  expect(await tell(0, 'programmed')).toBe(0)
  expect(await tell(1, 'programmed')).toBe(200)
  await clock.advance(150)
  expect(await tell(2, 'programmed')).toBe(50)
  expect(written).toEqual([0])
  await clock.advance(50)
  expect(await tell(2, 'programmed')).toBe(0)
  expect(await tell(2, 'programmed')).toBe(0)
  expect(written).toEqual([0, 2])
  expect(await tell(3, 'pending')).toBe(0)
  expect(written).toEqual([0, 2, 3])
  statuses.forgetGateway('shop/web')
  expect(await tell(4, 'pending')).toBe(0)
})

test('what was compiled of an earlier version of a Gateway is not told', async () => {
  const [compiledOf, shown] = [gatewayWith([http('web')], {}, 1), gatewayWith([http('other')], {}, 2)]
  let writes = 0
  const cluster = { gateway: () => shown, writeGateway: async () => void writes++ } as unknown as Cluster
  const statuses = new Statuses({ cluster, clock: new FakeClock() })
  const outcome = { progress: { type: 'programmed', notice: null }, addresses: [] } as const
  const compiled = compileGateway(compiledOf, [], surroundings)
  expect(await statuses.tellGateway(compiledOf, compiled, outcome)).toBe(0)
  expect(writes).toBe(0)
  await statuses.tellGateway(shown, compileGateway(shown, [], surroundings), outcome)
  expect(writes).toBe(1)
})
