import { askOn, issueCertificate, type ShownLoadBalancer, waitFor } from '@spout/testkit'
import { balancer, quickCheck, vipOf } from '../fixtures.ts'
import type { World } from './world.ts'

/** Points of a chart that one can see something in: nodes tell counters every five seconds, and a point is ten. */
const POINTS = 14

/** A project in which something happens: load balancers, certificates, changes, a quota that is nearly used up. */
export async function eventfulProject({ system, acme }: World): Promise<ShownLoadBalancer> {
  const checked = { pool: { monitor: quickCheck('tcp') } }
  const old = {
    ...{ name: 'old', conditions: [{ on: 'path', compare: 'prefix', values: ['/old'] }] },
    action: { type: 'respond', code: 410 },
  }
  const create = (name: string, protocol: 'tcp' | 'http', more: object = {}) =>
    system.createLoadBalancer(acme, balancer(name, protocol, { ...checked, ...more }))
  const shop = await create('shop', 'http', { listener: { latencies: true, routes: [old] } })
  await create('blog', 'http')
  await create('mail', 'tcp')
  await system.api(acme, 'PATCH', `/load-balancers/${shop.id}`, { description: 'What we sell' })
  const member = `/load-balancers/${shop.id}/pools/${shop.pools[0]!.id}/members/${shop.pools[0]!.members[0]!.id}`
  for (const weight of [4, 2]) await system.api(acme, 'PATCH', member, { weight })
  for (const [name, days] of [
    ['shop.example.com', 90],
    ['blog.example.com', 12],
  ] as const) {
    const { certificate: chain, key } = issueCertificate({ names: [name, `www.${name}`], days })
    await system.api(acme, 'POST', '/certificates', { name: name.split('.')[0], chain, key })
  }
  const authority = issueCertificate({ isAuthority: true, commonName: 'Staff of Acme' })
  await system.api(acme, 'POST', '/certificates', { name: 'staff', chain: authority.certificate })
  await system.api(system.access.admin, 'PUT', `/projects/${acme.projectId}/quota`, { limits: { loadBalancers: 5 } })
  return shop
}

/** Requests as on a day in a shop: never the same number, and some for what is gone. Charts have something to show. */
export async function dayOfRequests({ system, acme, client }: World, shop: ShownLoadBalancer) {
  const ask = (path: string, pauseMs: number) => askOn(() => client.http(vipOf(shop), 80, { path }), pauseMs)
  const streams = [ask('/', 20), ask('/old/hat', 300)]
  const points = async () => {
    const where = `/load-balancers/${shop.id}/figures?span=hour`
    const { series } = await system.api<{ series: Record<string, readonly (number | null)[]> }>(acme, 'GET', where)
    return (series['requestsPerSecond'] ?? []).filter((value) => value !== null).length
  }
  const after = (count: number) =>
    waitFor(async () => (await points()) >= count, { what: `${count} points of a chart`, timeoutMs: 300_000 })
  await after(POINTS / 3)
  const more = [ask('/cart', 25), ask('/cart', 35)]
  await after((2 * POINTS) / 3)
  for (const stream of more) await stream.stop()
  await after(POINTS)
  return { stop: () => Promise.all(streams.map((stream) => stream.stop())) }
}
