import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLASS, type ControllerBed, condition, ips, openControllerBed } from './testing/controller-bed.fixture.ts'

// A Service without a class, whose address another controller gave out, asks for us by an annotation. Until its load
// balancer is there, that controller's speakers and kube-proxy serve the address that the Service shows.

let bed: ControllerBed
beforeAll(async () => {
  bed = await openControllerBed()
  await bed.start({ isDefault: false })
})
afterAll(() => bed.close())

const TAKE_OVER = { metadata: { annotations: { 'spout.dev/take-over': 'true' } } }

/** A Service of another controller. */
async function foreign(name: string, address: string, spec: object, annotations: Record<string, string> = {}) {
  await bed.create(name, spec, annotations)
  const status = { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' }] } }
  await bed.api.patch(`${bed.servicePath(name)}/status`, { status })
}

test.each<readonly [string, string, string, object, Record<string, string>]>([
  ['that Spout does not understand', '198.51.100.120', 'InvalidAddress', {}, { 'spout.dev/load-balancer-ips': 'no' }],
  ['whose address is in no pool', '192.0.2.250', 'AddressNotInPool', { loadBalancerIP: '192.0.2.250' }, {}],
])('a Service %s keeps the address that it shows', async (_, address, reason, spec, annotations) => {
  const name = `refused-${address.replaceAll('.', '-')}`
  await foreign(name, address, spec, annotations)
  await bed.change(name, TAKE_OVER)
  const refused = await bed.when(name, 'a refusal', (one) => condition(one)?.status === 'False')
  expect([condition(refused)?.reason, ips(refused)]).toEqual([reason, [address]])
})

test('a Service shows its address all the time until the load balancer has it, and no longer than that', async () => {
  const address = '198.51.100.121'
  const holder = await bed.create('holder', { loadBalancerClass: CLASS, loadBalancerIP: address })
  await bed.when('holder', 'the address', (one) => ips(one).length > 0)
  await foreign('moving', address, { loadBalancerIP: address })
  await bed.change('moving', TAKE_OVER)
  const waiting = await bed.when('moving', 'a refusal', (one) => condition(one)?.status === 'False')
  expect(ips(waiting)).toEqual([address])
  await bed.remove('holder')
  await bed.gone('holder')
  expect(bed.documentOf(holder)).toBeUndefined()
  const moved = await bed.when('moving', 'its load balancer', (one) => bed.documentOf(one) !== undefined)
  expect(bed.documentOf(moved)?.vips.map((vip) => vip.address)).toEqual([address])
  expect(ips(await bed.get('moving'))).toEqual([address])
  await bed.change('moving', { metadata: { annotations: { 'spout.dev/take-over': null } } })
  await bed.when('moving', 'no address', (one) => ips(one).length === 0)
})
