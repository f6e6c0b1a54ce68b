import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_POLICY_SET } from '../access/policies.ts'
import { TestService } from '../testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start(undefined, DEFAULT_POLICY_SET, false, true)
})
afterAll(() => service.stop())

const make = async () => {
  const { id } = await service.make('/loadbalancers', 'loadbalancer', {
    ...{ vip_subnet_id: service.ids.pool, name: 'web' },
    listeners: [{ name: 'http', protocol: 'HTTP', protocol_port: 80 }],
    pools: [{ name: 'back', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }],
  })
  const { listeners, pools } = service.view.get('loadBalancer', id)!.value
  return { id, listener: listeners[0]!.id, pool: pools[0]!.id }
}

test('what nodes have not confirmed is not changed, and afterwards it is', async () => {
  const { id, listener, pool } = await make()
  const member = { address: '10.0.0.11', protocol_port: 8080 }
  const changes = [
    ['PUT', `/loadbalancers/${id}`, { loadbalancer: { name: 'new' } }],
    ['POST', '/listeners', { listener: { loadbalancer_id: id, protocol: 'TCP', protocol_port: 22 } }],
    ['PUT', `/listeners/${listener}`, { listener: { name: 'new' } }],
    ['POST', '/l7policies', { l7policy: { listener_id: listener, action: 'REJECT' } }],
    ['PUT', `/pools/${pool}`, { pool: { name: 'new' } }],
    ['POST', `/pools/${pool}/members`, { member }],
    ['PUT', `/pools/${pool}/members`, { members: [member] }],
    ['DELETE', `/pools/${pool}`, undefined],
    ['DELETE', `/listeners/${listener}`, undefined],
  ] as const
  const before = service.view.get('loadBalancer', id)
  for (const [method, url, body] of changes)
    expect(await service.call(method, url, body), `${method} ${url}`).toMatchObject({
      status: 409,
      body: { faultstring: `Load Balancer ${id} is immutable and cannot be updated.` },
    })
  const whole = `/loadbalancers/${id}?cascade=true`
  expect(await service.call('DELETE', whole)).toMatchObject({
    status: 409,
    body: { faultstring: `Invalid state PENDING_CREATE of loadbalancer resource ${id}` },
  })
  expect(service.view.get('loadBalancer', id)).toEqual(before)
  for (const [method, url, body] of changes) {
    service.confirm(id)
    expect((await service.call(method, url, body)).status, `${method} ${url}`).toBeLessThan(300)
  }
  service.confirm(id)
  expect((await service.call('DELETE', whole)).status).toBe(204)
})

test('of two changes at once one is refused', async () => {
  const { id, listener } = await make()
  service.confirm(id)
  const put = (connection_limit: number) =>
    service.call('PUT', `/listeners/${listener}`, { listener: { connection_limit } })
  const answers = await Promise.all([put(5), put(6)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('what nodes refused is changed, so that it can be put right', async () => {
  const { id, listener } = await make()
  service.confirm(id, { provisioning: 'error' })
  expect(await service.call('PUT', `/listeners/${listener}`, { listener: { name: 'new' } })).toMatchObject({
    status: 200,
  })
})
