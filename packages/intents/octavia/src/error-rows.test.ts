import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestService } from './testing/service.ts'

/** Answers of Octavia that belong to no kind of object, and those that cannot occur here and what is said instead. */

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const make = (fields: object = {}) =>
  service.call('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: service.ids.pool, ...fields } })

describe('a method that a path does not take is 405, and says which it takes', () => {
  test.each([
    ['PATCH', '/loadbalancers', 'GET, HEAD, POST'],
    ['DELETE', '/loadbalancers', 'GET, HEAD, POST'],
    ['PUT', '/listeners', 'GET, HEAD, POST'],
    ['POST', '/loadbalancers/00000000-0000-4000-8000-000000000000', 'DELETE, GET, HEAD, PUT'],
    ['GET', '/loadbalancers/00000000-0000-4000-8000-000000000000/failover', 'PUT'],
    ['POST', '/quotas/defaults?x=1', 'DELETE, GET, HEAD, PUT'],
  ] as const)('%s %s', async (method, path, allow) => {
    const url = `/load-balancer/v2/lbaas${path}`
    const reply = await service.app.inject({ method, url, headers: { 'x-auth-token': 'member' } })
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, allow])
    expect(reply.json()).toEqual({ faultcode: 'Client', faultstring: 'Method Not Allowed', debuginfo: null })
  })

  test('but not of a path that is none', async () => {
    const reply = await service.app.inject({ method: 'PATCH', url: '/load-balancer/v2/lbaas/nothing' })
    expect([reply.statusCode, reply.headers['allow']]).toEqual([404, undefined])
  })
})

test('a body that is too large is 413, and nothing is made', async () => {
  const had = service.view.list('loadBalancer').length
  expect(await make({ description: 'x'.repeat(5_000_000) })).toMatchObject({
    status: 413,
    body: { faultcode: 'Client', faultstring: expect.stringMatching(/^The body is larger than \d+ bytes$/) },
  })
  expect(service.view.list('loadBalancer')).toHaveLength(had)
})

test('an address that another load balancer has is 409', async () => {
  expect((await make({ vip_address: '192.0.2.99' })).status).toBe(201)
  expect(await make({ vip_address: '192.0.2.99' })).toMatchObject({
    status: 409,
    body: { faultstring: 'The VIP IP address is already in use: 192.0.2.99' },
  })
})

/** Octavia locks a project while it counts, and answers 503 "Project busy" to who waits too long. */
test('creations of one project at once are never 503: as many succeed as its quota says, and the others are 403', async () => {
  const used = service.admission.quotaOf(service.ids.project).used.loadBalancers
  await service.admission.setQuota(service.ids.project, { loadBalancers: used + 5 })
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, () => make()))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(5).fill(201), ...Array(15).fill(403)])
    expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
      faultstring: 'Quota has been met for resources: Load Balancer',
    })
  } finally {
    await service.admission.setQuota(service.ids.project, { loadBalancers: 1000 })
  }
})

/** Octavia answers 501 "Provider 'x' was not found." when the program of an enabled provider is missing. */
test('every provider that is listed makes load balancers, and says what flavors of it may say', async () => {
  const { body } = await service.call('GET', '/providers')
  const names = (body as { providers: { name: string }[] }).providers.map(({ name }) => name)
  expect(names).toContain('amphora')
  for (const provider of names) {
    expect(await make({ provider })).toMatchObject({ status: 201, body: { loadbalancer: { provider } } })
    const capabilities = await service.call('GET', `/providers/${provider}/flavor_capabilities`, undefined, 'admin')
    expect(capabilities.status).toBe(200)
  }
})

/** Octavia answers 400 "Flavor '…' is not compatible with provider '…'". */
test('a flavor of one provider name is taken with any other, because all mean the same', async () => {
  const profile = { name: 'p', provider_name: 'amphora', flavor_data: '{"connection_limit":7}' }
  const { id } = await service.make('/flavorprofiles', 'flavorprofile', profile, 'admin')
  const flavor = await service.make('/flavors', 'flavor', { name: 'f', flavor_profile_id: id }, 'admin')
  expect(await make({ provider: 'octavia', flavor_id: flavor.id })).toMatchObject({
    status: 201,
    body: { loadbalancer: { provider: 'octavia', flavor_id: flavor.id } },
  })
})
