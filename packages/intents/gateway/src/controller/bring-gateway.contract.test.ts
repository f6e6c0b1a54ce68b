import { Endpoints } from '@spout/client/endpoints'
import { Refused } from '@spout/client/native-api'
import { KnownLoadBalancers, keyOf, LeftOut, NativeLoadBalancers, uidOf } from '@spout/connector'
import { silentLogger, systemClock } from '@spout/runtime'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestBed } from '../../../../server/src/testing/test-bed.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { RouteObject } from '../objects/route.ts'
import {
  connectionRoute,
  gatewayWith,
  http,
  listener,
  routeWith,
  serviceOf,
  surroundingsOf,
  to,
} from '../testing/objects.ts'
import { compileGateway } from '../to-model/gateways/compile-gateway.ts'
import { bringGateway } from './bring-gateway.ts'

const CLUSTER = 'c1'
const GATEWAY = gatewayWith([http('web')])
const surroundings = surroundingsOf(['a', 'b', 'c'].map((name) => serviceOf(name)))
const routeTo = (service: string, number: number, path = `/${number}`) =>
  routeWith(
    { rules: [{ matches: [{ path: { type: 'Exact', value: path } }], backendRefs: [to(service)] }] },
    { name: `r${number}`, number, createdAt: `2026-01-0${number}T00:00:00Z` },
  )

let bed: Awaited<ReturnType<typeof openTestBed>>
let projectId: string
let service: NativeLoadBalancers
let bring: (routes: readonly RouteObject[], gateway?: Gateway) => ReturnType<typeof bringGateway>
const served = () =>
  bed.view
    .list('loadBalancer', { projectId })
    .flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes))
    .flatMap(({ conditions }) => conditions.flatMap((one) => (one.on === 'path' ? one.values : [])))

beforeAll(async () => {
  bed = await openTestBed()
  const { admission } = bed
  const endpoint = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await admission.createProject({ name: 'tenant', description: '' })).id
  const { token } = await bed.login('connector', projectId, 'balancer')
  const pool = { cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.10', last: '198.51.100.20' }] }
  const rest = { description: '', gatewayIp: null, projectIds: null, quarantineSeconds: 0 }
  await admission.createAddressPool({ name: 'public', ...pool, ...rest })
  const segment = { physicalNetwork: 'physnet1', vlan: null }
  const network = await admission.createNetwork({
    ...{ projectId, name: 'pods', description: '', returnPath: 'snat', segment },
  })
  const subnet = { name: '', description: '', cidr: '10.128.0.0/16', gatewayIp: null, nodeRange: null }
  await admission.addSubnet(network.id, subnet)
  service = new NativeLoadBalancers({
    session: async () => ({ endpoints: new Endpoints([endpoint]), token }),
    forget: () => {},
  })
  const known = new KnownLoadBalancers({
    ...{ service, cluster: CLUSTER, kind: 'gateway', clock: systemClock, log: silentLogger() },
  })
  const leftOut = new LeftOut(systemClock, 30_000)
  bring = (routes, gateway = GATEWAY) =>
    bringGateway(
      {
        ...{ service, known, leftOut, kind: 'gateway', cluster: CLUSTER, defaultPools: [], projectId },
        ...{ pools: () => service.addressPools(), networks: [], awaitsPools: false, patienceMs: () => 0 },
      },
      gateway,
      compileGateway(gateway, routes, surroundings),
    )
})
afterAll(() => bed?.close())

describe(`routes of ${keyOf(GATEWAY)} beyond the quota of the project`, () => {
  test('are not served, and those that are go on to change and to go', async () => {
    // The last route of a listener counts, too.
    await bed.admission.setQuota(projectId, { routes: 3 }, {})
    expect((await bring([routeTo('a', 1), routeTo('b', 2)])).notMade).toBeNull()
    expect(served()).toEqual(['/1', '/2'])
    const more = await bring([routeTo('a', 1, '/edited'), routeTo('b', 2), routeTo('c', 3)])
    expect(more.notMade).toMatchObject({ type: 'refused', refusal: { reason: 'OverQuota', field: 'spec' } })
    expect([...(more.tooMuch?.uids ?? [])]).toEqual([uidOf(routeTo('c', 3))])
    expect(served()).toEqual(['/edited', '/2'])
    const less = await bring([routeTo('b', 2, '/other'), routeTo('c', 3), routeTo('a', 4)])
    expect(less.notMade).toMatchObject({ type: 'refused' })
    expect(served()).toEqual(['/other'])
    expect((await bring([routeTo('b', 2, '/other'), routeTo('c', 3)])).notMade).toBeNull()
    expect(served()).toEqual(['/other', '/3'])
  })
})

test('labels of the infrastructure are tags of the load balancer, and follow when they change', async () => {
  const tagsWith = async (labels: Readonly<Record<string, string>>) => {
    const { notMade, shown } = await bring([], gatewayWith([http('web')], { infrastructure: { labels } }))
    expect(notMade).toBeNull()
    return [shown?.document.tags, bed.view.list('loadBalancer', { projectId })[0]?.tags]
  }
  const all: readonly Readonly<Record<string, string>>[] = [
    { team: 'shop', 'example.com/cost': '7' },
    { team: 'other' },
    {},
  ]
  for (const labels of all) {
    const tags = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .sort()
    expect(await tagsWith(labels)).toEqual([tags, tags])
  }
})

test('a control plane that does not know refused shares yet gets the load balancer without', async () => {
  const gateway = gatewayWith([listener('tcp', 'TCP', 53)])
  const route = connectionRoute('TCPRoute', [to('a'), to('missing')])
  using replaced = vi.spyOn(service, 'replace').mockImplementation((...given) => {
    if (!JSON.stringify(given).includes('refusedPercent'))
      return NativeLoadBalancers.prototype.replace.apply(service, given)
    return Promise.reject(new Refused('UnknownField', 'unknown', 'pools[0].refusedPercent'))
  })
  const { notMade, shown } = await bring([route], gateway)
  expect([notMade, shown?.document.pools]).toMatchObject([null, [{ name: 'TCPRoute/shop/r', protocol: 'tcp' }]])
  replaced.mockRestore()
  expect((await bring([route], gateway)).shown?.document.pools).toMatchObject([{ refusedPercent: 50 }])
})

test('fields that a control plane does not know are left out one by one: those that it knows stay', async () => {
  const tls = { tls: { certificateRefs: [{ name: 'tls' }] } }
  const gateway = gatewayWith([
    listener('tcp', 'TCP', 53),
    listener('a', 'HTTPS', 443, { hostname: 'a.org', ...tls }),
    listener('b', 'HTTPS', 443, { hostname: 'b.org', ...tls }),
  ])
  const route = connectionRoute('TCPRoute', [to('a'), to('missing')])
  const later = { refusedPercent: 'pools[0].refusedPercent', separateHosts: 'listeners[1].tls.separateHosts' }
  const saidWithout = async (...unknown: readonly (keyof typeof later)[]) => {
    const said: (readonly string[])[] = []
    using _ = vi.spyOn(service, 'replace').mockImplementation((...given) => {
      const fields = Object.keys(later).filter((field) => JSON.stringify(given).includes(`"${field}"`))
      said.push(fields)
      const refused = unknown.find((field) => fields.includes(field))
      return Promise.reject(
        refused === undefined ? new Error('it has all that it takes') : new Refused('UnknownField', '', later[refused]),
      )
    })
    await expect(bring([route], gateway)).rejects.toThrow('it has all that it takes')
    return said
  }
  const all = ['refusedPercent', 'separateHosts']
  expect(await saidWithout('refusedPercent')).toEqual([all, ['separateHosts']])
  expect(await saidWithout('separateHosts')).toEqual([all, ['refusedPercent']])
  expect(await saidWithout('separateHosts', 'refusedPercent')).toEqual([all, ['refusedPercent'], []])
})
