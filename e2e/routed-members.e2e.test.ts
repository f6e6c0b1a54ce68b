import {
  type Account,
  Caller,
  callApi,
  joinFarMember,
  nodesInSync,
  startMember,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, CLIENT, member, PORT, quickCheck, vipOf } from './fixtures.ts'
import { dropAll, expectAlive, holdSome } from './traffic.ts'

/** Behind the first member of each tenant's segment, like pods behind their Kubernetes node. */
const PODS = { acme: { place: 'pod-a', address: '10.244.1.11' }, bolt: { place: 'pod-b', address: '10.244.1.11' } }
const ROUTES = [{ to: '10.244.1.0/24', via: '10.0.0.11' }]

let system: TestSystem
let client: Caller

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: ['nodes.announcer=vrrp'] })
  for (const [spec, pod] of [
    [ACME, PODS.acme],
    [BOLT, PODS.bolt],
  ] as const) {
    await joinFarMember(system.lab, pod, `${spec.segment}-member1`)
    await startMember(system.lab, pod.place)
  }
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

/** A user with only role `balancer` in the tenant's project. */
async function balancerOf({ projectId, project }: Tenant): Promise<Pick<Account, 'token'>> {
  const { admin, endpoint } = system.access
  const user = { name: `connector-${project}`, password: 'in-the-lab' }
  await system.api(admin, 'POST', '/users', { ...user, roles: [{ projectId, role: 'balancer' }] })
  const login = { userName: user.name, password: user.password, projectName: project }
  return callApi<{ token: string }>(endpoint, '', 'POST', '/tokens', login)
}

describe.each([
  ['gateway', 0, PODS.acme.place],
  ['snat', 1, PODS.bolt.place],
] as const)('members behind a router, return path %s', (path, index, pod) => {
  it('are reached by the packet path and the proxy, set up by a token that may only balance', async () => {
    const tenant = system.tenants[index]!
    const who = await balancerOf(tenant)
    const routes = `/networks/${tenant.networkId}/routes`
    expect(await system.api(who, 'PUT', routes, { routes: ROUTES })).toMatchObject({ routes: ROUTES })
    const far = (port: number) => ({ name: 'pod', address: '10.244.1.11', port })
    const { id } = await system.api<{ id: string }>(who, 'POST', '/load-balancers', {
      name: `routed-${path}`,
      vips: [{ from: 'pool', poolId: system.publicPoolId }],
      listeners: [
        { protocol: 'tcp', port: 80, defaultPool: 'echo' },
        { protocol: 'tcp', port: 81, defaultPool: 'packets' },
        { protocol: 'http', port: 82, defaultPool: 'proxied' },
      ],
      pools: [
        { name: 'echo', protocol: 'tcp', members: [far(PORT.tcp)], monitor: quickCheck('tcp') },
        {
          name: 'packets',
          protocol: 'tcp',
          members: [far(PORT.http), member(2, PORT.http)],
          monitor: quickCheck('http'),
        },
        { name: 'proxied', protocol: 'http', members: [far(PORT.http)], monitor: quickCheck('http') },
      ],
    })
    const shown = await system.active(tenant, id)
    await waitFor(
      async () => {
        const { status } = await system.loadBalancer(tenant, id)
        const all = Object.values(status.members)
        return all.length === 4 && all.every(({ health }) => health === 'up')
      },
      { what: 'every member to be up' },
    )
    const answers = await client.members(vipOf(shown), 40, { port: 81 })
    expect([...new Set(answers.map((answer) => answer?.member))].sort()).toEqual(
      [pod, `${tenant === system.tenants[0] ? 'tenant-a' : 'tenant-b'}-member2`].sort(),
    )
    if (path === 'gateway')
      expect(new Set(answers.map((answer) => answer?.from))).toEqual(new Set([`::ffff:${CLIENT}`]))
    expect((await client.members(vipOf(shown), 5, { port: 82 })).map((answer) => answer?.member)).toEqual(
      Array.from({ length: 5 }, () => pod),
    )

    const held = await holdSome(client, shown, 20)
    const many = Array.from({ length: 1_000 }, (_, at) => ({
      to: `10.${100 + (at >> 8)}.${at & 255}.0/24`,
      via: '10.0.0.12',
    }))
    await system.api(who, 'PUT', routes, { routes: [...ROUTES, ...many] })
    await nodesInSync(system.access, 2)
    await expectAlive(held)
    await system.api(who, 'PUT', routes, { routes: ROUTES })
    await nodesInSync(system.access, 2)
    await expectAlive(held)
    await dropAll(held)

    await expect(system.api(who, 'PUT', routes, { routes: [] })).rejects.toThrow(/in use by member 10\.244\.1\.11/)
    await expect(system.api(who, 'GET', '/addresses')).rejects.toThrow(/403|role/)
    await system.api(who, 'DELETE', `/load-balancers/${id}?cascade=true`)
    await system.api(who, 'PUT', routes, { routes: [] })
  })
})
