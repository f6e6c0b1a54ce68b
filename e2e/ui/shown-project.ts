import { issueCertificate, type ShownLoadBalancer } from '@spout/testkit'
import { balancer, member, PORT, quickCheck } from '../fixtures.ts'
import type { World } from './world.ts'

/** Requests for what the shop has no more are answered by the load balancer itself. */
const GONE = {
  ...{ name: 'old', conditions: [{ on: 'path', compare: 'prefix', values: ['/old'] }] },
  action: { type: 'respond', code: 410 },
} as const

/**
 * A project as people have it: a shop on both members, a blog on the first, mail on the second, and certificates, of which
 * one ends soon. Its quota is half used.
 * @returns the shop
 */
export async function shownProject({ system, acme }: World): Promise<ShownLoadBalancer> {
  const create = (name: string, protocol: 'tcp' | 'http', pool: object, listener: object = {}) => {
    const checked = { monitor: quickCheck('tcp'), ...pool }
    return system.createLoadBalancer(acme, balancer(name, protocol, { pool: checked, listener }))
  }
  const shop = await create('shop', 'http', {}, { latencies: true, routes: [GONE] })
  await create('blog', 'http', { members: [member(1, PORT.http)] })
  await create('mail', 'tcp', { members: [member(2, PORT.tcp)] })
  for (const [name, days] of [
    ['shop.example.com', 90],
    ['blog.example.com', 12],
  ] as const) {
    const { certificate: chain, key } = issueCertificate({ names: [name, `www.${name}`], days })
    await system.api(acme, 'POST', '/certificates', { name: name.split('.')[0], chain, key })
  }
  const authority = issueCertificate({ isAuthority: true, commonName: 'Staff of Acme' })
  await system.api(acme, 'POST', '/certificates', { name: 'staff', chain: authority.certificate })
  await system.api(system.access.admin, 'PUT', `/projects/${acme.projectId}/quota`, { limits: { loadBalancers: 6 } })
  return shop
}
