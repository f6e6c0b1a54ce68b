import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestService } from './testing/service.ts'

/**
 * Flavors and availability zones in all their states. `apps/connector` has the same matrix for objects of
 * Kubernetes.
 */
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

type Body = Readonly<Record<string, unknown>> & { readonly id: string; readonly name: string }
const OFFERS = {
  flavor: {
    named: 'flavor_id',
    by: 'id',
    make: (name: string, fields: object) => service.admission.createLoadBalancerClass({ name, ...fields }),
    disable: (id: string) => service.admission.changeLoadBalancerClass(id, { enabled: false }),
    path: '/flavors',
    unknown: '00000000-0000-4000-8000-000000000000',
    refusal: 'Validation failure: Invalid flavor_id.',
  },
  availability_zone: {
    named: 'availability_zone',
    by: 'name',
    make: (name: string, fields: object) =>
      service.admission.createAvailabilityZone({
        ...{ name, description: '', enabled: true, nodeGroupId: null },
        ...fields,
      }),
    disable: (id: string) => service.admission.changeAvailabilityZone(id, { enabled: false }),
    path: '/availabilityzones',
    unknown: 'nowhere',
    refusal: 'Validation failure: Invalid availability zone.',
  },
} as const
type Root = keyof typeof OFFERS
const ROOTS = Object.keys(OFFERS) as Root[]

interface Created {
  readonly status: number
  readonly body: { readonly loadbalancer: Body; readonly faultstring: string }
}

const newLoadBalancer = async (root: Root, value: string): Promise<Created> => {
  const body = { loadbalancer: { vip_subnet_id: service.ids.pool, [OFFERS[root].named]: value } }
  const answer = await service.call('POST', '/loadbalancers', body, 'member')
  return { status: answer.status, body: answer.body as Created['body'] }
}
const count = () => service.view.list('loadBalancer').length

test.each(ROOTS)('%s that is offered is taken', async (root): Promise<void> => {
  const { make, by, named } = OFFERS[root]
  const made = await make('open', {})
  const { status, body } = await newLoadBalancer(root, made[by])
  expect([status, body]).toMatchObject([201, { loadbalancer: { [named]: made[by] } }])
})

// Availability zones are for all projects.
test('a flavor of some projects is taken in theirs', async () => {
  const { id } = await OFFERS.flavor.make('for-us', { projectIds: [service.ids.project] })
  expect((await newLoadBalancer('flavor', id)).status).toBe(201)
})

test.each([
  ['flavor', 'unknown', async (): Promise<string> => OFFERS.flavor.unknown, OFFERS.flavor.refusal],
  [
    'flavor',
    'of other projects',
    async (): Promise<string> => (await OFFERS.flavor.make('theirs', { projectIds: [service.ids.otherProject] })).id,
    OFFERS.flavor.refusal,
  ],
  [
    'flavor',
    'disabled',
    async (): Promise<string> => (await OFFERS.flavor.make('off', { enabled: false })).id,
    'The selected flavor is not allowed in this deployment: ',
  ],
  [
    'availability_zone',
    'unknown',
    async (): Promise<string> => OFFERS.availability_zone.unknown,
    OFFERS.availability_zone.refusal,
  ],
  [
    'availability_zone',
    'disabled',
    async (): Promise<string> => (await OFFERS.availability_zone.make('off', { enabled: false })).name,
    'The selected availability_zone is not allowed in this deployment: ',
  ],
] as const)('%s that is %s is refused, and nothing is made', async (root, _, prepare, words) => {
  const value = await prepare()
  const before = count()
  const { status, body } = await newLoadBalancer(root, value)
  expect([status, body.faultstring]).toEqual([400, words.endsWith(': ') ? `${words}${value}` : words])
  expect(count()).toBe(before)
})

test.each(ROOTS)('a load balancer keeps its %s when that is disabled, and goes on being changed', async (root) => {
  const { make, disable, by, named, path } = OFFERS[root]
  const offer = await make('used', {})
  const { body } = await newLoadBalancer(root, offer[by])
  const { id } = body.loadbalancer
  await disable(offer.id)
  const listener = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 80 }
  expect((await service.call('POST', '/listeners', { listener }, 'member')).status).toBe(201)
  const renamed = { loadbalancer: { name: 'renamed' } }
  expect(await service.call('PUT', `/loadbalancers/${id}`, renamed, 'member')).toMatchObject({
    status: 200,
    body: { loadbalancer: { name: 'renamed', [named]: offer[by] } },
  })
  // Octavia's load balancer has no attribute for it. The named object shows it.
  expect((await service.call('GET', `${path}/${offer[by]}`, undefined, 'member')).body).toMatchObject({
    [root]: { enabled: false },
  })
  expect((await newLoadBalancer(root, offer[by])).status).toBe(400)
})

test.each(ROOTS)('the %s of a load balancer is not changed', async (root) => {
  const { make, by, named } = OFFERS[root]
  const [first, other] = [await make('first', {}), await make('other', {})]
  const { body } = await newLoadBalancer(root, first[by])
  const { id } = body.loadbalancer
  const change = { loadbalancer: { [named]: other[by] } }
  expect(await service.call('PUT', `/loadbalancers/${id}`, change, 'member')).toMatchObject({
    status: 400,
    body: { faultstring: expect.stringContaining(named) },
  })
  expect((await service.call('GET', `/loadbalancers/${id}`, undefined, 'member')).body).toMatchObject({
    loadbalancer: { [named]: first[by] },
  })
})
