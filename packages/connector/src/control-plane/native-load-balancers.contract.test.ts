import type { IncomingMessage, ServerResponse } from 'node:http'
import { Endpoints } from '@spout/client/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../../server/src/testing/test-bed.ts'
import { loadBalancerIds } from '../addresses/ids.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import { routeOf } from '../content/route-content.ts'
import type { ShownLoadBalancer } from './load-balancer-service.ts'
import { NativeLoadBalancers } from './native-load-balancers.ts'

let bed: TestBed
let native: NativeLoadBalancers
let projectId: string
beforeAll(async () => {
  bed = await openTestBed()
  const endpoint = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await bed.admission.createProject({ name: 'tenant', description: '' })).id
  const { token } = await bed.login('connector', projectId, 'balancer')
  native = new NativeLoadBalancers({
    session: async () => ({ endpoints: new Endpoints([endpoint]), token }),
    forget: () => {},
  })
})
afterAll(() => bed.close())

const node = { nodeId: 'n1', nodeName: 'node1', connection: 'connected', message: null } as const

test('load balancers of our project that nodes still hold are waited for', async () => {
  const [id = ''] = loadBalancerIds(projectId, 'a')
  bed.withdrawals.hold(id, { projectId, overdue: false, waitingFor: [node] })
  expect(await native.withdrawal(id, 0)).toEqual({ withdrawn: false, overdue: false, waitingFor: ['node1'] })
})

test('the domains of our project are shown, and each change of them', async () => {
  const { id: stranger } = await bed.admission.createProject({ name: 'neighbour', description: '' })
  await bed.admission.changeProject(stranger, { domains: ['theirs.example'] })
  const stop = new AbortController()
  const shown: (readonly string[])[] = []
  try {
    for await (const domains of native.watchDomains(stop.signal)) {
      shown.push(domains)
      if (shown.length === 3) break
      if (shown.length === 1) await bed.admission.changeProject(projectId, { domains: ['*.shop.example'] })
      else {
        const { id } = await bed.admission.claimDomain({ projectId, domain: 'proven.example' })
        await bed.admission.concludeDomainCheck(id, { record: 'present' }, 0)
      }
    }
  } finally {
    stop.abort()
  }
  expect(shown).toEqual([[], ['*.shop.example'], ['*.shop.example', 'proven.example']])
})

test('an id that another project took is not waited for', async () => {
  const { id: stranger } = await bed.admission.createProject({ name: 'stranger', description: '' })
  const [id = ''] = loadBalancerIds(projectId, 'b')
  bed.withdrawals.hold(id, { projectId: stranger, overdue: false, waitingFor: [node] })
  expect(await native.withdrawal(id, 0)).toEqual({ withdrawn: true, overdue: false, waitingFor: [] })
})

test('all who follow the load balancers share one watch, which is closed behind the last', async () => {
  const [opened, closed]: [string[], string[]] = [[], []]
  bed.app.server.on('request', ({ url = '' }: IncomingMessage, answer: ServerResponse) => {
    if (!url.startsWith('/api/v1/load-balancers?watch=')) return
    opened.push(url)
    answer.once('close', () => closed.push(url))
  })
  const stops = [new AbortController(), new AbortController()]
  const names: string[][] = [[], []]
  const follow = async (at: number) => {
    for await (const event of native.watch(stops[at]!.signal))
      if (event.type === 'shown') names[at]!.push(event.loadBalancer.document.name)
  }
  const content = { name: 'shown', annotations: {}, pools: [], listeners: [] }
  const [id = ''] = loadBalancerIds(projectId, 'c')
  const { id: poolId } = await bed.admission.createAddressPool({
    ...{ name: 'p', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '198.51.100.1', last: '198.51.100.9' }],
  })
  await native.create(id, content, { poolId, address: null })
  const following = [follow(0)]
  await expect.poll(() => names[0]).toEqual(['shown'])
  following.push(follow(1))
  await expect.poll(() => names[1]).toEqual(['shown'])
  await native.replace(id, { ...content, name: 'renamed' })
  await expect.poll(() => names.map((all) => all.at(-1))).toEqual(['renamed', 'renamed'])
  expect(opened).toHaveLength(1)
  stops[0]!.abort()
  await expect(following[0]).rejects.toThrow('aborted')
  await native.replace(id, { ...content, name: 'again' })
  await expect.poll(() => names[1]?.at(-1)).toBe('again')
  expect([names[0], closed]).toEqual([['shown', 'renamed'], []])
  stops[1]!.abort()
  await expect(following[1]).rejects.toThrow('aborted')
  await expect.poll(() => closed).toHaveLength(1)
})

/** A listener whose routes lead to these pools, one each. */
function routedTo(pools: readonly string[]): LoadBalancerContent {
  const routes = pools.map((name) => {
    const made = routeOf({ name, action: { type: 'forward', pools: [{ pool: name, weight: 1 }] } }, 'rules')
    if ('refusal' in made) throw new Error(made.refusal.message)
    return made.value
  })
  const listener = { name: 'web', protocol: 'http', port: 80, defaultPool: '', allowedCidrs: null, routes } as const
  const pool = { protocol: 'http', persistence: null, panicThreshold: 0, drainSeconds: 0, monitor: null } as const
  return {
    ...{ name: 'routed', annotations: {}, listeners: [listener] },
    pools: pools.map((name) => ({ name, ...pool, members: [] })),
  }
}

test('after changes of members the watch shows the very parts of the answers, which need no deep comparison', async () => {
  const [id = ''] = loadBalancerIds(projectId, 'd')
  const segment = { physicalNetwork: 'physnet1', vlan: null }
  const net = await bed.admission.createNetwork({ projectId, name: 'n', description: '', returnPath: 'snat', segment })
  const subnet = { name: '', description: '', cidr: '10.0.0.0/24', gatewayIp: null, nodeRange: null }
  await bed.admission.addSubnet(net.id, subnet)
  const { id: poolId } = await bed.admission.createAddressPool({
    ...{ name: 'q', description: '', cidr: '203.0.113.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '203.0.113.1', last: '203.0.113.9' }],
  })
  let shown: ShownLoadBalancer = await native.create(id, routedTo(['a', 'b', 'c']), { poolId, address: null })
  const stop = new AbortController()
  const seen = new Map<number, ShownLoadBalancer['document']>()
  const following = (async () => {
    for await (const event of native.watch(stop.signal))
      if (event.type === 'shown' && event.loadBalancer.document.id === id)
        seen.set(event.loadBalancer.document.generation, event.loadBalancer.document)
  })()
  await expect.poll(() => seen.size).toBe(1)
  for (const at of [0, 1, 2, 0]) {
    const put = [
      { name: '', address: '10.0.0.11', port: 8000 + shown.document.generation, weight: 1, monitorPort: null },
    ]
    shown = await native.changeMembers(shown, { poolId: shown.document.pools[at]!.id, put, remove: [] })
    const { generation, pools } = shown.document
    await expect.poll(() => seen.has(generation)).toBe(true)
    // The watch may have shown the changed pool before the answer came.
    expect(seen.get(generation)!.pools.map((pool, index) => index === at || pool === pools[index])).toEqual([
      true,
      true,
      true,
    ])
  }
  stop.abort()
  await expect(following).rejects.toThrow('aborted')
})
