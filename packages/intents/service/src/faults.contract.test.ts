import { Endpoints } from '@spout/client/endpoints'
import { NativeLoadBalancers } from '@spout/connector'
import { ENDPOINT_SLICES, NODES, SERVICES, type Service, Transport } from '@spout/kube'
import { silentLogger, systemClock } from '@spout/runtime'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeApiServer } from '../../../kube/src/testing/fake-api-server.ts'
import { openTestBed, type TestBed } from '../../../server/src/testing/test-bed.ts'
import { ServiceController } from './controller/service-controller.ts'
import { KubeCluster } from './kubernetes/kube-cluster.ts'
import { endpoint, service, slice, uid } from './testing/objects.ts'
import { servicesOfCluster } from './to-model/services-of.ts'

/** Faults that a real API server cannot produce: lost Services, and thousands of events at once. */

let spout: TestBed
let kubernetes: FakeApiServer
let endpointUrl: string
let token: string
let projectId: string
const stops: (() => Promise<void>)[] = []

beforeEach(async () => {
  spout = await openTestBed()
  kubernetes = await FakeApiServer.start()
  endpointUrl = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await spout.admission.createProject({ name: 'tenant', description: '' })).id
  token = (await spout.login('connector', projectId, 'balancer')).token
  await spout.admission.createAddressPool({
    name: 'public',
    description: '',
    cidr: '198.51.100.0/24',
    ranges: [{ first: '198.51.100.10', last: '198.51.100.200' }],
    gatewayIp: null,
    projectIds: null,
    quarantineSeconds: 0,
  })
  const { id } = await spout.admission.createNetwork({
    projectId,
    name: 'pods',
    description: '',
    returnPath: 'snat',
    segment: { physicalNetwork: 'physnet1', vlan: null },
  })
  const subnet = { name: '', description: '', gatewayIp: null, nodeRange: null }
  await spout.admission.addSubnet(id, { ...subnet, cidr: '10.128.0.0/16' })
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  await kubernetes.stop()
  await spout.close()
})

async function start() {
  const endpoints = new Endpoints([endpointUrl])
  const native = new NativeLoadBalancers({ session: async () => ({ endpoints, token }), forget: () => {} })
  const transport = new Transport({ access: kubernetes.access })
  const common = { clock: systemClock, log: silentLogger() }
  const className = 'spout.dev/load-balancer'
  const cluster = new KubeCluster({
    ...common,
    transport,
    className,
    namespace: null,
    knownServices: servicesOfCluster(await native.list(), 'c'),
    tell: () => {},
  })
  let changes = 0
  const replace = native.replace.bind(native)
  native.replace = (...args) => {
    changes++
    return replace(...args)
  }
  const changeMembers = native.changeMembers.bind(native)
  native.changeMembers = (...args) => {
    changes++
    return changeMembers(...args)
  }
  const settings = {
    cluster: 'c',
    className,
    isDefault: true,
    namespaces: null,
    mode: 'direct',
    defaultPools: [],
    externalRanges: [],
    routesOfNetwork: null,
  } as const
  const controller = new ServiceController({ ...common, cluster, service: native, settings })
  cluster.start()
  controller.start()
  const stop = async () => {
    await controller.stop()
    await cluster.stop()
    transport.close()
  }
  stops.push(stop)
  const idle = () => until('an empty queue', () => controller.ready && controller.counters.queued === 0)
  return { controller, cluster, stop, idle, changes: () => changes }
}

const until = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 15_000 })
const documents = () => spout.view.list('loadBalancer', { projectId })
const shown = (name: string) => kubernetes.store.get(`/api/v1/namespaces/shop/services/${name}`) as Service | undefined
const put = (number: number) => kubernetes.put(SERVICES, service(`s${number}`, {}, { uid: uid(number) }))

test('an API server that lost its Services: nothing is deleted, and Services that come back have their addresses', async () => {
  const first = await start()
  for (const number of [1, 2, 3, 4, 5]) put(number)
  await until('five load balancers', () => documents().length === 5)
  await until('an address each', () => shown('s5')?.status?.loadBalancer?.ingress?.[0]?.ip)
  const before = new Map(documents().map(({ name, vips }) => [name, vips[0]?.address]))
  await first.stop()
  for (const number of [1, 2, 3, 4, 5]) kubernetes.delete(SERVICES, { namespace: 'shop', name: `s${number}` })

  const second = await start()
  await until('a controller that has read both sides', () => second.controller.ready)
  expect(second.cluster.isHeld('shop/s1')).toBe(true)
  put(6)
  await until('a sixth', () => documents().length === 6)
  for (const number of [1, 2, 3, 4, 5]) put(number)
  await until('nothing held', () => !second.cluster.isHeld('shop/s3'))
  await until('the addresses', () =>
    [1, 2, 3, 4, 5].every(
      (number) => shown(`s${number}`)?.status?.loadBalancer?.ingress?.[0]?.ip === before.get(`shop/s${number}`),
    ),
  )
  expect(documents()).toHaveLength(6)
})

test('held objects go once an operator confirms their deletion', async () => {
  const first = await start()
  for (const number of [1, 2, 3, 4]) put(number)
  await until('four load balancers', () => documents().length === 4)
  await first.stop()
  for (const number of [1, 2, 3, 4]) kubernetes.delete(SERVICES, { namespace: 'shop', name: `s${number}` })
  const second = await start()
  await until('a controller that has read both sides', () => second.controller.ready)
  expect(documents()).toHaveLength(4)
  second.cluster.confirm()
  await until('none', () => documents().length === 0)
})

test('a Service that the API server says was deleted takes its load balancer with it, also without finalizer', async () => {
  const { idle } = await start()
  put(1)
  put(2)
  await until('load balancers', () => documents().length === 2)
  kubernetes.delete(SERVICES, { namespace: 'shop', name: 's1' })
  await until('one load balancer', () => documents().length === 1)
  await idle()
  expect(documents()[0]?.name).toBe('shop/s2')
  // The watch showed the deletion, so the API server is not asked.
  expect(kubernetes.requests.filter(({ query }) => query['fieldSelector'] !== undefined)).toEqual([])
})

test('a burst of endpoint changes is few calls, and the last one counts', async () => {
  const { idle, changes: changed } = await start()
  put(1)
  await until('a load balancer', () => documents().length === 1)
  await idle()
  const before = changed()
  const changes = 2000
  for (let at = 1; at <= changes; at++) {
    const pods = [endpoint(`10.128.${at >> 8}.${at & 255}`)]
    kubernetes.put(ENDPOINT_SLICES, slice('s1', pods))
  }
  const last = `10.128.${changes >> 8}.${changes & 255}`
  await until('the last endpoint', () => documents()[0]?.pools[0]?.members[0]?.address === last)
  expect(changed() - before).toBeLessThan(changes / 4)
})

test('the control plane is away: nothing is lost, and work goes on once it is back', async () => {
  await start()
  put(1)
  await until('a load balancer', () => documents().length === 1)
  const { admission } = spout
  const original = admission.createLoadBalancer.bind(admission)
  let refusals = 0
  admission.createLoadBalancer = async (draft) => {
    if (refusals++ < 3) throw new Error('not now')
    return original(draft)
  }
  put(2)
  await until('a second, after refusals', () => documents().length === 2)
  expect(refusals).toBeGreaterThan(3)
})

test('heartbeats of nodes change nothing', async () => {
  const { idle, cluster } = await start()
  let told = 0
  const node = (at: number) => ({
    metadata: { name: 'n1' },
    status: {
      addresses: [{ type: 'InternalIP' as const, address: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' as const, lastHeartbeatTime: `2026-01-01T00:00:0${at}Z` }],
    },
  })
  kubernetes.put(NODES, node(0))
  await idle()
  await until('the node', () => [...cluster.nodes()].length === 1)
  cluster.onChange(() => told++)
  for (let at = 1; at < 9; at++) kubernetes.put(NODES, node(at))
  put(1)
  await until('a load balancer', () => documents().length === 1)
  await idle()
  expect(told).toBeLessThan(5)
})
