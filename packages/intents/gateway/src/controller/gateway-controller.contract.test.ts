import { Endpoints } from '@spout/client/endpoints'
import { backendPool, KnownLoadBalancers, NativeLoadBalancers, says } from '@spout/connector'
import type { EndpointSlice } from '@spout/kube'
import { silentLogger, systemClock } from '@spout/runtime'
import { waitFor } from '@spout/testkit'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestBed } from '../../../../server/src/testing/test-bed.ts'
import type { Gateway } from '../objects/gateway.ts'
import { type RouteObject, routeIdOf } from '../objects/route.ts'
import { HTTP_ROUTE } from '../route-kinds/http-route.ts'
import { TCP_ROUTE } from '../route-kinds/tcp-and-udp-route.ts'
import { brokenRoute, goodHost } from '../testing/broken-objects.fixture.ts'
import { MemoryCluster } from '../testing/memory-cluster.fixture.ts'
import {
  connectionRoute,
  gatewayWith,
  grantOf,
  grpcRouteWith,
  http,
  listener,
  routeWith,
  serviceOf,
  setWith,
  to,
} from '../testing/objects.ts'
import { compileGateway } from '../to-model/gateways/compile-gateway.ts'
import { GatewayController } from './gateway-controller.ts'
import { Statuses } from './statuses.ts'

const CLUSTER = 'c1'
const KEY = 'shop/web'
const HOSTS = ['a.x.org', '*.x.org', 'y.org']

let bed: Awaited<ReturnType<typeof openTestBed>>
let service: NativeLoadBalancers
let cluster: MemoryCluster
let controller: GatewayController
beforeAll(async () => {
  bed = await openTestBed()
  const { admission } = bed
  const endpoint = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  const { id: projectId } = await admission.createProject({ name: 'tenant', description: '' })
  const { token } = await bed.login('connector', projectId, 'balancer')
  const range = { cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.10', last: '198.51.100.20' }] }
  const rest = { description: '', gatewayIp: null, projectIds: null, quarantineSeconds: 0 }
  await admission.createAddressPool({ name: 'public', ...range, ...rest })
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
  cluster = new MemoryCluster()
  controller = new GatewayController({
    ...{ cluster, service, clock: systemClock, log: silentLogger() },
    certificates: {
      of: () => ({ type: 'refused', refusal: { reason: 'x', field: 'x', message: 'x' } }),
      ...{ ready: true, name: () => {}, complete: () => {}, onChange: () => () => {} },
    },
    settings: { cluster: CLUSTER, defaultPools: [] },
  })
  controller.start()
})
afterAll(async () => {
  await controller?.stop()
  await bed?.close()
})

const sliceOf = (name: string, last: number): EndpointSlice => ({
  metadata: { name: `${name}-1`, namespace: 'shop', labels: {} },
  addressType: 'IPv4',
  endpoints: [{ addresses: [`10.128.0.${last}`], conditions: { ready: true } }],
  ports: [{ name: 'http', port: 3000, protocol: 'TCP' }],
})

/** A change of one object that the load balancer depends on. */
const change = fc.oneof(
  fc.record({
    type: fc.constantFrom('route', 'route', 'route', 'grpc'),
    number: fc.integer({ min: 1, max: 5 }),
    host: fc.constantFrom(...HOSTS),
    service: fc.constantFrom('a', 'b', 'far'),
    path: fc.constantFrom('/', '/p'),
    parent: fc.constantFrom('Gateway', 'Gateway', 'ListenerSet', 'none'),
    isGone: fc.boolean(),
  }),
  fc.record({ type: fc.constant('service'), name: fc.constantFrom('a', 'b'), port: fc.constantFrom(8080, 8081, 0) }),
  fc.record({ type: fc.constant('slice'), name: fc.constantFrom('a', 'b'), last: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant('listeners'), second: fc.constantFrom('', ...HOSTS) }),
  fc.record({ type: fc.constant('set'), host: fc.constantFrom('', ...HOSTS) }),
  fc.record({ type: fc.constant('grant'), isGiven: fc.boolean() }),
  fc.record({ type: fc.constant('labels'), isRed: fc.boolean() }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

let generation = 1
function apply(one: Change): void {
  if ('parent' in one) {
    const { number, host, path } = one
    const parent = one.parent === 'ListenerSet' ? { kind: 'ListenerSet', name: 'set' } : { name: 'web' }
    const parentRefs = [{ ...parent, namespace: one.parent === 'none' ? 'nowhere' : 'shop' }]
    const backendRefs = [to(one.service, { ...(one.service === 'far' && { namespace: 'far' }) })]
    const metadata = { name: `r${number}`, number: number + 10 }
    const route =
      one.type === 'grpc'
        ? grpcRouteWith(
            { parentRefs, hostnames: [host], rules: [{ backendRefs }] },
            { ...metadata, number: number + 50 },
          )
        : routeWith(
            {
              ...{ parentRefs, hostnames: [host] },
              rules: [{ matches: [{ path: { type: 'PathPrefix', value: path } }], backendRefs }],
            },
            metadata,
          )
    cluster.putRoute(routeIdOf(route), one.isGone ? null : route)
  } else if ('port' in one) {
    const ports = [{ name: 'http', port: one.port, targetPort: 3000 }]
    cluster.putService(`shop/${one.name}`, one.port === 0 ? null : serviceOf(one.name, { ports }))
  } else if ('last' in one) cluster.putSlices(`shop/${one.name}`, [sliceOf(one.name, one.last)])
  else if ('second' in one) putGateway(one.second)
  else if ('host' in one)
    cluster.putListenerSet(
      'red/set',
      one.host === ''
        ? null
        : setWith('set', [http('s', { hostname: one.host })], { namespace: 'red', generation: generation++ }),
    )
  else if ('isGiven' in one) cluster.setGrants(one.isGiven ? [grantOf('far', 'shop', { kind: 'Service' })] : [])
  else cluster.setLabels('red', one.isRed ? { team: 'red' } : {})
}

function putGateway(second: string): void {
  const listeners = [http('first'), ...(second === '' ? [] : [http('second', { hostname: second })])]
  const allowedListeners = { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'red' } } } }
  const made: Gateway = gatewayWith(listeners, { allowedListeners }, generation++)
  const { status } = cluster.gateway(KEY) ?? {}
  cluster.putGateway(status === undefined ? made : { ...made, status })
}

/** The wanted load balancer, compiled as a whole. */
const whole = () =>
  compileGateway(cluster.gateway(KEY)!, [...cluster.routes()], {
    ...{ cluster: CLUSTER, domains: [], grants: cluster.grants() },
    service: (key) => cluster.service(key),
    certificateOf: () => ({ type: 'refused', refusal: { reason: 'x', field: 'x', message: 'x' } }),
    labelsOf: (namespace) => cluster.labelsOf(namespace),
    listenerSet: (key) => cluster.listenerSet(key),
    listenerSetsOf: (gateway) => cluster.listenerSetsOf(gateway),
    poolOf: (name, { port, protocol, http2, service: key }) => {
      const { pool, leftOut } = backendPool(name, port, cluster.slicesOf(key), [4], protocol)
      return { pool: { ...pool, ...(http2 && { http2 }) }, leftOut }
    },
  })

const soon = (what: string, isSo: () => boolean) =>
  waitFor(async () => isSo(), { what, timeoutMs: 60_000, everyMs: 10 })
const attached = () => cluster.gateway(KEY)?.status?.listeners?.[0]?.attachedRoutes
const routeTo = (name: string, number: number, path: string) =>
  routeWith(
    { rules: [{ matches: [{ path: { type: 'Exact', value: path } }], backendRefs: [to('a')] }] },
    { name, number },
  )

const goodSpec = (at: number) => ({ hostnames: [goodHost(at)], rules: [{ backendRefs: [to('a')] }] })

test('a route is said to the control plane before its own status is written', async () => {
  cluster.putService('shop/a', serviceOf('a'))
  putGateway('')
  const [first, second] = [routeTo('r8', 18, '/8'), routeTo('r9', 19, '/9')]
  cluster.putRoute(routeIdOf(first), first)
  await soon('the first route', () => attached() === 1)
  const did: string[] = []
  using _said = vi.spyOn(service, 'changeRoutes').mockImplementation((...given) => {
    did.push('said')
    return NativeLoadBalancers.prototype.changeRoutes.apply(service, given)
  })
  using _written = vi.spyOn(cluster, 'writeParents').mockImplementation((...given) => {
    // The status of the first route may come late.
    if (given[0].metadata.name === 'r9') did.push('written')
    return MemoryCluster.prototype.writeParents.apply(cluster, given)
  })
  cluster.putRoute(routeIdOf(second), second)
  await soon('the second route', () => attached() === 2 && did.length > 1)
  expect(did.slice(0, 2)).toEqual(['said', 'written'])
})

test('an API server that is slow to write statuses holds no change of a Gateway back', async () => {
  await soon('an empty queue', () => controller.counters.queued === 0)
  const served = () => JSON.stringify([...controller.known.all()].map(({ document }) => document.listeners))
  // More statuses than the controller writes at a time.
  const made = Array.from({ length: 40 }, (_, at) => routeTo(`slow-${at}`, 500 + at, `/slow/${at}/first`))
  const go = cluster.holdWrites()
  try {
    for (const one of made) cluster.putRoute(routeIdOf(one), one)
    await soon('all to be served', () => served().includes('/slow/39/first'))
    const [first] = made
    cluster.putRoute(routeIdOf(first!), routeTo('slow-0', 500, '/slow/0/second'))
    await soon('the change', () => served().includes('/slow/0/second'))
    putGateway('y.org')
    await soon('another listener', () => served().includes('y.org'))
  } finally {
    go()
  }
  await soon('the statuses', () => attached() === 42)
  expect(cluster.gateway(KEY)?.status?.listeners?.map(({ name }) => name)).toEqual(['first', 'second'])
  putGateway('')
  for (const one of made) cluster.putRoute(routeIdOf(one), null)
  await soon('the routes to go', () => attached() === 2)
})

test('routes say that a Service is gone which was there before them', async () => {
  const isResolved = (route: RouteObject) =>
    cluster.route(routeIdOf(route))?.status?.parents?.[0]?.conditions?.find(({ type }) => type === 'ResolvedRefs')
      ?.status
  const route = routeTo('r8', 18, '/8')
  await soon('it to resolve', () => isResolved(route) === 'True')
  cluster.putService('shop/a', null)
  await soon('it to resolve no more', () => isResolved(route) === 'False')
  for (const one of [route, routeTo('r9', 19, '/9')]) cluster.putRoute(routeIdOf(one), null)
  await soon('the routes to go', () => attached() === 0)
})

test('broken routes are compiled as often as good ones: what one costs does not depend on their number', async () => {
  using compile = vi.spyOn(HTTP_ROUTE, 'compile')
  const count = 120
  const said = (route: RouteObject) => cluster.route(routeIdOf(route))?.status?.parents?.[0]?.conditions ?? []
  const made = Array.from({ length: 2 * count }, (_, at) => {
    const { parentRefs: [ref] = [{}], ...spec } = (at < count ? goodSpec(at) : brokenRoute(at).spec(at)) as Pick<
      RouteObject['spec'],
      'parentRefs'
    >
    return routeWith({ ...spec, parentRefs: [{ ...ref, name: 'web' }] }, { name: `many-${at}`, number: 1000 + at })
  })
  for (const one of made) cluster.putRoute(routeIdOf(one), one)
  await soon('all to be told', () => made.every((one) => said(one).length > 0))
  await soon('an empty queue', () => controller.counters.queued === 0)
  // At its listener, for its expressions, and for its status if it has no listener.
  expect(compile.mock.calls.length).toBeLessThanOrEqual(3 * made.length)

  compile.mockClear()
  using replaced = vi.spyOn(service, 'replace')
  for (const one of [...made.slice(0, 3), ...made.slice(-3)]) {
    // A longer path goes before shorter ones, so the route moves.
    const rules = [{ matches: [{ path: { type: 'PathPrefix' as const, value: '/longer' } }], backendRefs: [to('a')] }]
    cluster.putRoute(routeIdOf(one), { ...one, spec: { ...one.spec, rules } } as RouteObject)
  }
  await soon('an empty queue', () => controller.counters.queued === 0)
  expect(compile.mock.calls.length).toBeLessThanOrEqual(3 * 6)
  expect(replaced).not.toHaveBeenCalled()
  for (const one of made) cluster.putRoute(routeIdOf(one), null)
  await soon('the routes to go', () => attached() === 0)
})

test('a change of a TCPRoute is looked at with those alone that may have its listener', async () => {
  const count = 40
  const listeners = Array.from({ length: count }, (_, at) => listener(`tcp-${at}`, 'TCP', 1000 + at))
  cluster.putService('shop/a', serviceOf('a'))
  cluster.putService('shop/b', serviceOf('b'))
  const gateway = gatewayWith([http('first'), ...listeners], {}, generation++)
  cluster.putGateway({ ...gateway, ...(cluster.gateway(KEY)?.status && { status: cluster.gateway(KEY)!.status! }) })
  const routeAt = (number: number, at: number, service = 'a') =>
    connectionRoute(
      'TCPRoute',
      [to(service)],
      { name: `tcp-${number}`, number: 2000 + number, createdAt: `2026-01-01T00:00:${10 + number}Z` },
      { parentRefs: [{ name: 'web', sectionName: `tcp-${at}` }] },
    )
  const put = (route: RouteObject) => cluster.putRoute(routeIdOf(route), route)
  const ids = (...numbers: readonly number[]) => numbers.map((number) => `TCPRoute/shop/tcp-${number}`)
  const all = Array.from({ length: count }, (_, at) => routeAt(at, at))
  const conditionOf = (route: RouteObject) =>
    cluster.route(routeIdOf(route))?.status?.parents?.[0]?.conditions?.find(({ type }) => type === 'Accepted')
  all.forEach(put)
  await soon('all to be told', () => all.every((route) => conditionOf(route) !== undefined))
  await soon('an empty queue', () => controller.counters.queued === 0)

  using compile = vi.spyOn(TCP_ROUTE, 'compile')
  using told = vi.spyOn(Statuses.prototype, 'tellRoute')
  /** The routes that were compiled, and those whose statuses were looked at. */
  const after = async (route: RouteObject) => {
    compile.mockClear()
    told.mockClear()
    put(route)
    await soon('an empty queue', () => controller.counters.queued === 0)
    const compiled = new Set(compile.mock.calls.map(([one]) => routeIdOf(one)))
    return [[...compiled].sort(), [...new Set(told.mock.calls.map(([id]) => id))].sort()]
  }
  expect(await after(routeAt(5, 5, 'b'))).toEqual([ids(5), ids(5)])
  expect(await after(routeAt(5, 7, 'b'))).toEqual([ids(5), ids(5, 7)])
  expect(conditionOf(routeAt(7, 7))?.message).toBe('Listener tcp-7 sends to TCPRoute/shop/tcp-5, which is older.')
  expect(await after(routeAt(9, 7))).toEqual([ids(9), ids(9)])
  for (const one of all) cluster.putRoute(routeIdOf(one), null)
  await soon('an empty queue', () => controller.counters.queued === 0)
})

test('after any changes the load balancer is what compiling the whole Gateway gives', async () => {
  const known = new KnownLoadBalancers({
    ...{ service, cluster: CLUSTER, kind: 'gateway', clock: systemClock, log: silentLogger() },
  })
  cluster.putService('far/far', serviceOf('far', {}, 'far'))
  putGateway('')
  const isAsWanted = async () => {
    for (const shown of await service.list()) known.note(shown)
    const { wanted, listeners } = whole()
    const [document] = [...known.all()].map((one) => one.document)
    const counts = cluster.gateway(KEY)?.status?.listeners?.map(({ attachedRoutes }) => attachedRoutes)
    return (
      document !== undefined &&
      wanted !== null &&
      says(document, wanted.content) &&
      JSON.stringify(counts) === JSON.stringify(listeners.map(({ attachedRoutes }) => attachedRoutes))
    )
  }
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      for (const one of changes) apply(one)
      await waitFor(isAsWanted, {
        what: `the Gateway after ${JSON.stringify(changes)}`,
        timeoutMs: 20_000,
        everyMs: 10,
      })
    }),
    { numRuns: byLength(15, 600), endOnFailure: true },
  )
  expect(controller.counters.gateways).toBe(1)
}, 300_000)
