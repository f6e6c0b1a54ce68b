import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ControllerBed,
  condition,
  ips,
  openControllerBed,
  type RunningController,
} from './testing/controller-bed.fixture.ts'

let bed: ControllerBed
let running: RunningController
beforeAll(async () => {
  bed = await openControllerBed()
  const six = bed.spout.view.get('network', bed.network.id)?.value.subnets.find(({ cidr }) => cidr.includes(':'))
  await bed.spout.admission.removeSubnet(bed.network.id, six?.id ?? '')
  // A node in the network's segment. Its pods are reached through it.
  await bed.api.create('/api/v1/nodes', {
    metadata: { name: 'worker1' },
    spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24', 'fd00:244::/64'] },
    status: {
      addresses: ['10.0.0.32', 'fd00:128::32'].map((address) => ({ type: 'InternalIP', address })),
    },
  })
  running = await bed.start({ routesOfNetwork: 'pods' })
})
afterAll(() => bed.close())

const DUAL = { ipFamilies: ['IPv4', 'IPv6'] }
const members = (one: Awaited<ReturnType<ControllerBed['get']>>) =>
  bed.documentOf(one)?.pools.flatMap((pool) => pool.members.map(({ address }) => address))
const slicesOf = async (name: string, count = 1) => {
  const ports = [{ name: 'http', protocol: 'TCP' as const, port: 8080 }]
  const numbers = Array.from({ length: count }, (_, at) => at + 10)
  const endpoints = (prefix: string) =>
    numbers.map((at) => ({ addresses: [`${prefix}${at}`], conditions: { ready: true } }))
  await bed.slice(name, { addressType: 'IPv4', ports, endpoints: endpoints('10.244.0.') }, `${name}-4`)
  await bed.slice(name, { addressType: 'IPv6', ports, endpoints: endpoints('fd00:244::') }, `${name}-6`)
}

test('14: a family without a subnet is not published and its endpoints are not sent, until there is a subnet', async () => {
  const one = await bed.create('prefer', { ...DUAL, ipFamilyPolicy: 'PreferDualStack' })
  // More endpoints than the controller would leave out one by one.
  await slicesOf('prefer', 120)
  await bed.until('the IPv4 members', () => members(one)?.length === 120)
  bed.confirm(bed.documentOf(one)!)
  const single = await bed.when('prefer', 'a reason', (now) => condition(now)?.reason === 'NoSubnet')
  expect([ips(single).length, ips(single)[0]]).toEqual([1, expect.stringMatching(/^198\.51\.100\./)])
  expect(condition(single)).toMatchObject({
    status: 'True',
    message: expect.stringContaining('"pods" has no IPv6 subnet'),
  })
  const told = () => running.events.filter(({ service, event }) => service === 'prefer' && event.reason === 'NoSubnet')
  // Events are sent after the status was written.
  await bed.until('the event', () => told().length > 0)
  expect(told()).toMatchObject([{ event: { type: 'Warning' } }])

  await bed.create('require', { ...DUAL, ipFamilyPolicy: 'RequireDualStack' })
  const refused = await bed.when('require', 'a refusal', (now) => condition(now)?.reason === 'NoSubnet')
  expect([ips(refused), condition(refused)?.status]).toEqual([[], 'False'])
  expect(condition(refused)?.message).toMatch(/^spec\.ipFamilies: .*"pods" has no IPv6 subnet/)
  await bed.create('six', { ipFamilies: ['IPv6'] })
  await bed.when('six', 'a refusal', (now) => condition(now)?.reason === 'NoSubnet')

  await addSix()
  const both = await bed.when('prefer', 'two addresses', (now) => ips(now).length === 2)
  expect(ips(both)[0]).toBe(ips(single)[0])
  // Its pods are behind the node: the route to them follows the subnet too.
  await bed.until('the members of both families', () => members(one)?.length === 240)
  await bed.when('require', 'two addresses', (now) => ips(now).length === 2)
  await bed.when('six', 'an address', (now) => ips(now).length === 1)
  bed.confirm(bed.documentOf(one)!)
  await bed.when('prefer', 'nothing to say', (now) => condition(now)?.reason === 'Programmed')
})

const addSix = () =>
  bed.spout.admission.addSubnet(bed.network.id, {
    ...{ name: '', description: '', gatewayIp: null, nodeRange: null },
    cidr: 'fd00:128::/64',
  })
