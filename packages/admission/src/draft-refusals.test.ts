import { randomUUID } from 'node:crypto'
import type { Listener, Member, Pool } from '@spout/model'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LoadBalancerDraft, VipRequest } from './contract/load-balancer-admission.ts'
import { draftOf, listenerOf, memberOf, monitorOf, type Office, openOffice, poolOf, refusal } from './testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ managementCidrs: ['10.99.0.0/16'] })
})
afterEach(() => office.close())

/** A draft that would be granted, with something wrong in it. */
interface Case {
  readonly what: string
  readonly request?: (office: Office) => Partial<VipRequest> | Record<string, unknown>
  readonly fields?: (office: Office) => Record<string, unknown>
  readonly listeners?: readonly Partial<Listener>[]
  readonly member?: (office: Office) => Partial<Member> | Record<string, unknown>
  readonly pool?: Partial<Pool> | Record<string, unknown>
  readonly code: string
  readonly field: string
}

const monitored = (fields: Record<string, unknown>): Record<string, unknown> => ({
  monitor: { ...monitorOf(randomUUID()), ...fields },
})

const cases: readonly Case[] = [
  { what: 'an unknown field', fields: () => ({ colour: 'red' }), code: 'UnknownField', field: 'colour' },
  { what: 'a missing field', fields: () => ({ name: undefined }), code: 'MissingField', field: 'name' },
  { what: 'a wrong type', fields: () => ({ enabled: 'yes' }), code: 'InvalidField', field: 'enabled' },
  { what: 'no VIP at all', fields: () => ({ vips: [] }), code: 'InvalidField', field: 'vips' },
  {
    what: 'an unknown project',
    fields: () => ({ projectId: randomUUID() }),
    code: 'ReferenceNotFound',
    field: 'projectId',
  },
  {
    what: 'an unknown node group',
    fields: () => ({ nodeGroupId: randomUUID() }),
    code: 'ReferenceNotFound',
    field: 'nodeGroupId',
  },
  {
    what: 'an unknown field of a member',
    member: () => ({ wieght: 1 }),
    code: 'UnknownField',
    field: 'pools[0].members[0].wieght',
  },
  {
    what: 'a member port out of range',
    member: () => ({ port: 65536 }),
    code: 'InvalidField',
    field: 'pools[0].members[0].port',
  },
  {
    what: 'an address with leading zeros',
    member: () => ({ address: '010.0.0.5' }),
    code: 'InvalidField',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a VIP address that is none',
    request: () => ({ address: '192.0.2' }),
    code: 'InvalidField',
    field: 'vips[0].address',
  },
  {
    what: 'a VIP address outside of the pool',
    request: () => ({ address: '192.0.2.9' }),
    code: 'AddressOutsideSubnet',
    field: 'vips[0].address',
  },
  {
    what: 'an unknown address pool',
    request: () => ({ poolId: randomUUID() }),
    code: 'ReferenceNotFound',
    field: 'vips[0].poolId',
  },
  {
    what: 'an unknown subnet',
    request: (o) => ({
      from: 'subnet',
      poolId: undefined,
      networkId: o.network.id,
      subnetId: randomUUID(),
      address: null,
    }),
    code: 'ReferenceNotFound',
    field: 'vips[0].subnetId',
  },
  {
    what: 'the gateway as VIP',
    request: (o) => ({
      from: 'subnet',
      poolId: undefined,
      networkId: o.network.id,
      subnetId: o.subnet.id,
      address: '10.0.0.1',
    }),
    code: 'AddressForbidden',
    field: 'vips[0].address',
  },
  {
    what: 'the broadcast address as VIP',
    request: (o) => ({
      from: 'subnet',
      poolId: undefined,
      networkId: o.network.id,
      subnetId: o.subnet.id,
      address: '10.0.0.255',
    }),
    code: 'AddressForbidden',
    field: 'vips[0].address',
  },
  {
    what: 'an unknown port',
    request: () => ({ from: 'port', poolId: undefined, address: undefined, portId: randomUUID() }),
    code: 'ReferenceNotFound',
    field: 'vips[0].portId',
  },
  {
    what: 'a member outside of the networks',
    member: () => ({ address: '10.1.0.5' }),
    code: 'MemberOutsideNetworks',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a loopback member',
    member: () => ({ address: '127.0.0.1' }),
    code: 'InvalidField',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'the metadata service as member',
    member: () => ({ address: '169.254.169.254' }),
    code: 'InvalidField',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'loopback in other clothes',
    member: () => ({ address: '::ffff:127.0.0.1' }),
    code: 'InvalidField',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a multicast member',
    member: () => ({ address: 'ff02::1' }),
    code: 'InvalidField',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a management address as member',
    member: () => ({ address: '10.99.3.4' }),
    code: 'AddressForbidden',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a loopback monitor address',
    member: () => ({ monitorAddress: '127.0.0.1' }),
    code: 'AddressForbidden',
    field: 'pools[0].members[0].monitorAddress',
  },
  {
    what: 'a monitor address outside of the networks',
    member: () => ({ monitorAddress: '10.7.0.1' }),
    code: 'MemberOutsideNetworks',
    field: 'pools[0].members[0].monitorAddress',
  },
  {
    what: 'the gateway as member',
    member: () => ({ address: '10.0.0.1' }),
    code: 'AddressForbidden',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'the broadcast address as member',
    member: () => ({ address: '10.0.0.255' }),
    code: 'AddressForbidden',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a member outside of its subnet',
    member: (o) => ({ subnetId: o.subnet.id, address: '10.0.1.5' }),
    code: 'AddressOutsideSubnet',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a member of the other IP version than its subnet, outside of the network',
    member: (o) => ({ subnetId: o.subnet.id, address: 'fd99::5' }),
    code: 'AddressOutsideSubnet',
    field: 'pools[0].members[0].address',
  },
  {
    what: 'a member in an unknown subnet',
    member: () => ({ subnetId: randomUUID() }),
    code: 'ReferenceNotFound',
    field: 'pools[0].members[0].subnetId',
  },
  {
    what: 'a default pool that is not there',
    listeners: [{ defaultPoolId: randomUUID() }],
    code: 'ReferenceNotFound',
    field: 'listeners[0].defaultPoolId',
  },
  { what: 'two listeners on one port', listeners: [{}, {}], code: 'PortTaken', field: 'listeners[1].port' },
  {
    what: 'a proxied and a plain TCP listener on one port',
    listeners: [{}, { protocol: 'http' }],
    code: 'PortTaken',
    field: 'listeners[1].port',
  },
  {
    what: 'a monitor without its probe',
    pool: monitored({ type: 'http' }),
    code: 'MissingField',
    field: 'pools[0].monitor.http',
  },
  {
    what: 'an HTTPS monitor without its probe',
    pool: monitored({ type: 'https' }),
    code: 'MissingField',
    field: 'pools[0].monitor.http',
  },
  {
    what: 'a request beside a TLS hello',
    pool: monitored({
      type: 'tls-hello',
      http: { method: 'GET', path: '/', expectedCodes: [{ first: 200, last: 200 }], version: '1.1', host: null },
    }),
    code: 'InvalidField',
    field: 'pools[0].monitor.http',
  },
  {
    what: 'a probe that takes longer than its interval',
    pool: monitored({ timeoutMs: 2000 }),
    code: 'InvalidField',
    field: 'pools[0].monitor.timeoutMs',
  },
  {
    what: 'a request that would end its line',
    pool: monitored({
      type: 'http',
      http: {
        method: 'GET',
        path: '/ HTTP/1.0\r\nX: y',
        expectedCodes: [{ first: 200, last: 200 }],
        version: '1.1',
        host: null,
      },
    }),
    code: 'InvalidField',
    field: 'pools[0].monitor.http.path',
  },
]

describe('createLoadBalancer refuses', () => {
  it.each(cases)('$what', async ({ request, fields, listeners, member, pool, code, field }) => {
    const before = office.holdings()
    const used = office.admission.quotaOf(office.project.id).used
    const vip = { from: 'pool', poolId: office.pool.id, address: null, ...request?.(office) }
    for (const key of Object.keys(vip) as (keyof typeof vip)[]) if (vip[key] === undefined) delete vip[key]
    const draft = {
      ...draftOf(office.project.id, [vip as VipRequest], {
        listeners: (listeners ?? []).map((one) => listenerOf(randomUUID(), 80, one)),
        pools: [
          poolOf(randomUUID(), [{ ...memberOf(randomUUID(), '10.0.0.5'), ...member?.(office) }], pool as Partial<Pool>),
        ],
      }),
      ...fields?.(office),
    } as LoadBalancerDraft
    const error = await refusal(office.admission.createLoadBalancer(draft))
    expect({ code: error.code, field: error.field }).toEqual({ code, field })
    expect(error.message).not.toMatch(/\{\w+\}/)
    expect(office.holdings()).toEqual(before)
    expect(office.admission.quotaOf(office.project.id).used).toEqual(used)
    // No address was lost: the first one is still free.
    const first = await office.admission.createLoadBalancer(draftOf(office.project.id, [fromPool()]))
    expect(first.vips[0]?.address).toBe('192.0.2.10')
  })
})

const fromPool = (): VipRequest => ({ from: 'pool', poolId: office.pool.id, address: null })
