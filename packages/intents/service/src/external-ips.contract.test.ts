import type { ProjectRule } from '@spout/connector'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { condition, ips } from './testing/controller-bed.fixture.ts'
import { openTenantBed, type TenantBed } from './testing/tenant-bed.fixture.ts'

let bed: TenantBed
let running: Awaited<ReturnType<TenantBed['startTenants']>>
beforeAll(async () => {
  bed = await openTenantBed()
  for (const name of ['red-1', 'blue-1']) await bed.namespace(name)
  running = await bed.startTenants({ rules: RULES })
})
afterAll(() => bed.close())

type Service = Awaited<ReturnType<TenantBed['get']>>

const rule = (project: string): ProjectRule => ({
  project,
  namespaces: [`${project}-1`],
  labels: null,
  isDefault: false,
})
const RULES = [rule('red'), rule('blue')]
const EXTERNAL = 'spout.dev/ExternalIPs'
const hasIp = (one: Service) => ips(one).length > 0
const documentOf = ({ metadata }: Service) =>
  ['red', 'blue']
    .flatMap((name) => bed.documentsOf(name))
    .find(({ annotations }) => annotations[`kubernetes.service.${metadata.uid}`] !== undefined)
const vipsOf = (one: Service) => documentOf(one)?.vips.map(({ address }) => address) ?? []
const refusedBy = (reason: string) => (one: Service) => condition(one, EXTERNAL)?.reason === reason
const unrefused = (one: Service) => hasIp(one) && condition(one, EXTERNAL) === undefined
const idle = () =>
  bed.until('empty queues', () => running.controllers.ready && running.controllers.counters.queued === 0)

describe('37: external IPs, against a real API server', () => {
  test("37: an address of the project's pools is added to the Service's own; it goes with the field", async () => {
    const one = await bed.create('web', { externalIPs: ['203.0.113.140'] }, {}, 'red-1')
    const shown = await bed.when('web', 'an address', unrefused, 'red-1')
    await bed.until('the external address', () => vipsOf(one).includes('203.0.113.140'))
    expect(ips(shown)).toEqual([vipsOf(one)[0]])
    expect(vipsOf(one)).toEqual([ips(shown)[0], '203.0.113.140'])
    // It does not answer before the nodes have confirmed it.
    expect(condition(await bed.get('web', 'red-1'))?.status).toBe('False')
    bed.confirm(documentOf(one)!)
    await bed.when('web', 'programmed', (now) => condition(now)?.status === 'True', 'red-1')
    await bed.change('web', { spec: { externalIPs: ['203.0.113.141', '203.0.113.140'] } }, 'red-1')
    await bed.until('both', () => vipsOf(one).length === 3)
    await bed.change('web', { spec: { externalIPs: ['203.0.113.141'] } }, 'red-1')
    await bed.until('one of them', () => vipsOf(one).join() === `${ips(shown)[0]},203.0.113.141`)
    await bed.change('web', { spec: { externalIPs: null } }, 'red-1')
    await bed.until('none of them', () => vipsOf(one).join() === ips(shown)[0])
    await idle()
    expect(documentOf(one)?.annotations['kubernetes.external-ips']).toBeUndefined()
    expect(ips(await bed.get('web', 'red-1'))).toEqual(ips(shown))
    await bed.remove('web', 'red-1')
    await bed.gone('web', 'red-1')
  })

  test('37: refused with a condition and an event that name the address and the reason; the Service works', async () => {
    const asked: readonly (readonly [string, readonly string[], string])[] = [
      ['not-allowed', ['198.51.100.20'], 'ExternalIPNotAllowed'],
      ['of-another', ['203.0.113.195'], 'AddressNotInPool'],
      ['of-no-pool', ['203.0.113.250'], 'AddressNotInPool'],
      ['six', ['2001:db8:1::20'], 'ExternalIPNotAllowed'],
      ['several', ['203.0.113.195', '203.0.113.145', '198.51.100.20'], 'ExternalIPsRefused'],
    ]
    for (const [name, externalIPs] of asked) await bed.create(name, { externalIPs }, {}, 'red-1')
    for (const [name, externalIPs, reason] of asked) {
      const one = await bed.when(name, reason, (now) => hasIp(now) && refusedBy(reason)(now), 'red-1')
      expect(condition(one, EXTERNAL)).toMatchObject({
        status: 'False',
        message: expect.stringContaining(externalIPs[0]!),
      })
      expect(condition(one, EXTERNAL)?.message).not.toContain('blue')
      bed.confirm(documentOf(one)!)
      await bed.when(name, 'that it works', (now) => condition(now)?.status === 'True', 'red-1')
      await bed.until('an event', () =>
        running.events.some((event) => event.service === name && event.reason === reason),
      )
    }
    const several = await bed.get('several', 'red-1')
    expect(vipsOf(several)).toEqual([ips(several)[0], '203.0.113.145'])
    expect(condition(several, EXTERNAL)?.message).toMatch(/^198\.51\.100\.20: .*; 203\.0\.113\.195: /)
    await bed.change('several', { spec: { externalIPs: ['203.0.113.145'] } }, 'red-1')
    await bed.when('several', 'nothing refused', unrefused, 'red-1')
    for (const [name] of asked) {
      await bed.remove(name, 'red-1')
      await bed.gone(name, 'red-1')
    }
  })

  test('37, 38, S8: an address stays with its Service: no Service of another namespace or project takes it by externalIPs', async () => {
    const owner = await bed.create('owner', { loadBalancerIP: '198.51.100.165' }, {}, 'red-1')
    await bed.create('first', { externalIPs: ['198.51.100.166'] }, {}, 'red-1')
    await bed.when('owner', 'an address', hasIp, 'red-1')
    const first = await bed.when('first', 'an address', unrefused, 'red-1')
    await bed.until('its external one', () => vipsOf(first).includes('198.51.100.166'))
    const wanted = ['198.51.100.165', '198.51.100.166']
    const thieves = await Promise.all(
      ['red-1', 'blue-1'].map((namespace) => bed.create('thief', { externalIPs: wanted }, {}, namespace)),
    )
    for (const [at, namespace] of ['red-1', 'blue-1'].entries()) {
      const refused = await bed.when('thief', 'a refusal', refusedBy('ExternalIPsRefused'), namespace)
      expect(condition(refused, EXTERNAL)?.message).toBe(
        '198.51.100.165: it is already in use; 198.51.100.166: it is already in use',
      )
      expect(vipsOf(thieves[at]!)).toEqual(ips(refused))
    }
    expect([vipsOf(owner), vipsOf(first)[1]]).toEqual([['198.51.100.165'], '198.51.100.166'])
    // First come, first served: a waiting Service gets it once it is free.
    await bed.remove('thief', 'red-1')
    await bed.gone('thief', 'red-1')
    await bed.change('first', { spec: { externalIPs: null } }, 'red-1')
    await bed.until('it to be let go', () => !vipsOf(first).includes('198.51.100.166'))
    await bed.change('thief', { metadata: { annotations: { 'spout.dev/monitor': 'none' } } }, 'blue-1')
    await bed.until('it to be taken', () => vipsOf(thieves[1]!).includes('198.51.100.166'))
    for (const [name, namespace] of [
      ['thief', 'blue-1'],
      ['owner', 'red-1'],
      ['first', 'red-1'],
    ] as const) {
      await bed.remove(name, namespace)
      await bed.gone(name, namespace)
    }
  })

  test('37: Services that share an address share an external one; a restart changes nothing; families come and go beside it', async () => {
    const key = { 'spout.dev/allow-shared-ip': 'k', 'spout.dev/address-pool': 'public,six' }
    const a = await bed.create('a', { externalIPs: ['203.0.113.146'] }, key, 'red-1')
    await bed.when('a', 'an address', unrefused, 'red-1')
    await bed.create('b', { externalIPs: ['203.0.113.146'], ports: [{ name: 'tls', port: 443 }] }, key, 'red-1')
    const b = await bed.when('b', 'an address', unrefused, 'red-1')
    await bed.until('one external address', () => vipsOf(a).join() === `${ips(b)[0]},203.0.113.146`)
    await bed.remove('a', 'red-1')
    await bed.gone('a', 'red-1')
    expect(vipsOf(b)).toEqual([ips(b)[0], '203.0.113.146'])
    await bed.change('b', { spec: { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' } }, 'red-1')
    const dual = await bed.when('b', 'two addresses', (now) => ips(now).length === 2, 'red-1')
    expect(vipsOf(b)).toEqual([ips(b)[0], '203.0.113.146', ips(dual)[1]])
    await bed.change('b', { spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } }, 'red-1')
    await bed.until('its family to go', () => vipsOf(b).length === 2)
    await idle()
    await running.stop()
    running = await bed.startTenants({ rules: RULES })
    await idle()
    expect([running.writes, vipsOf(b)]).toEqual([[], [ips(b)[0], '203.0.113.146']])
    // A mistake in an annotation takes nothing away.
    await bed.change('b', { metadata: { annotations: { 'spout.dev/mode': 'teleport' } } }, 'red-1')
    await bed.when('b', 'a refusal', (now) => condition(now)?.reason === 'InvalidAnnotation', 'red-1')
    await idle()
    expect(vipsOf(b)).toEqual([ips(b)[0], '203.0.113.146'])
    await bed.remove('b', 'red-1')
    await bed.gone('b', 'red-1')
  })

  test("37: the Service's own address is not external", async () => {
    const spec = { loadBalancerIP: '203.0.113.147', externalIPs: ['203.0.113.147'] }
    const one = await bed.create('same', spec, {}, 'red-1')
    const shown = await bed.when('same', 'an address', unrefused, 'red-1')
    await idle()
    expect([ips(shown), vipsOf(one)]).toEqual([['203.0.113.147'], ['203.0.113.147']])
    await bed.remove('same', 'red-1')
    await bed.gone('same', 'red-1')
  })

  test('37: off (the default): nothing is claimed or reported, and existing ones are released', async () => {
    const one = await bed.create('off', { externalIPs: ['203.0.113.148'] }, {}, 'red-1')
    await bed.when('off', 'an address', unrefused, 'red-1')
    await bed.until('its external one', () => vipsOf(one).length === 2)
    await idle()
    await running.stop()
    const alone = await bed.start({ defaultPools: [] })
    await bed.until('it to be let go', () => vipsOf(one).length === 1)
    const other = await bed.create('never', { externalIPs: ['203.0.113.149', '192.0.2.1'] }, {}, 'red-1')
    await bed.when('never', 'an address', unrefused, 'red-1')
    expect(vipsOf(other)).toHaveLength(1)
    await alone.stop()
  })
})
