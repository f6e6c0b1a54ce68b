import { randomUUID } from 'node:crypto'
import type { Listener, LoadBalancer, Member, Pool } from '@spout/model'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  draftOf,
  listenerOf,
  memberOf,
  networkDraft,
  type Office,
  openOffice,
  poolOf,
  refusal,
  subnetDraft,
} from './testing/office.ts'

let office: Office
let networkId: string
beforeEach(async () => {
  office = await openOffice()
  const { project, admission } = office
  const { id } = await admission.createNetwork({
    ...networkDraft(project.id, 'dsr'),
    segment: { physicalNetwork: 'direct', vlan: null },
  })
  networkId = id
  for (const [cidr, gateway] of [
    ['10.7.0.0/24', '10.7.0.1'],
    ['fd07::/64', null],
  ] as const)
    await admission.addSubnet(id, subnetDraft(cidr, gateway))
})
afterEach(() => office.close())

interface Parts {
  readonly listeners: Listener[]
  readonly pools: Pool[]
}

/** A TCP listener on port 80 and its pool of one member, with something else in it. */
function parts({ listener = {}, member = {}, address = '10.7.0.11' }: Partial<Case> = {}): Parts {
  const pool = poolOf(randomUUID(), [memberOf(randomUUID(), address, 80, member)])
  const protocol = listener.protocol === 'http' ? { protocol: 'http' as const } : {}
  return {
    listeners: [listenerOf(randomUUID(), 80, { defaultPoolId: pool.id, ...listener })],
    pools: [{ ...pool, ...protocol }],
  }
}

const create = (fields: Parts): Promise<LoadBalancer> =>
  office.admission.createLoadBalancer(
    draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], fields),
  )
const change = (id: string, fields: Partial<Parts>): Promise<LoadBalancer> =>
  office.admission.changeLoadBalancer(id, () => fields)

interface Case {
  readonly what: string
  readonly listener: Partial<Listener>
  readonly member: Partial<Member>
  readonly address: string
  readonly code: string
  readonly field: string
}

const refused: readonly (Partial<Case> & Pick<Case, 'what' | 'code' | 'field'>)[] = [
  { what: 'HTTP', listener: { protocol: 'http' }, code: 'Unsupported', field: 'listeners[0].protocol' },
  { what: 'proxied TCP', listener: { protocol: 'tcp-proxy' }, code: 'Unsupported', field: 'listeners[0].protocol' },
  {
    what: 'a connection limit',
    listener: { connectionLimit: 10 },
    code: 'Unsupported',
    field: 'listeners[0].connectionLimit',
  },
  {
    what: 'a member on another port',
    member: { port: 8080 },
    code: 'InvalidField',
    field: 'pools[0].members[0].port',
  },
  {
    what: 'a member of another family than every VIP',
    address: 'fd07::11',
    code: 'InvalidField',
    field: 'pools[0].members[0].address',
  },
]

const granted: readonly (Partial<Case> & Pick<Case, 'what'>)[] = [
  { what: 'TCP' },
  { what: 'admitted sources', listener: { allowedCidrs: ['198.51.100.0/24'] } },
  { what: 'a check on another port', member: { monitorPort: 8081 } },
  { what: 'a listener without members', listener: { port: 81, defaultPoolId: null } },
]

describe('with return path dsr', () => {
  it.each(refused)('$what is refused', async (one) => {
    const before = office.holdings()
    const error = await refusal(create(parts(one)))
    expect({ code: error.code, field: error.field }).toEqual({ code: one.code, field: one.field })
    expect(error.message).toContain('return path dsr')
    expect(office.holdings()).toEqual(before)
  })

  it.each(granted)('$what is granted', async (one) => {
    expect(await create(parts(one))).toMatchObject({ networkId: expect.any(String) })
  })

  it('the part that is added later is the one refused', async () => {
    const fields = parts()
    const { id, listeners, pools } = await create(fields)
    const [listener, pool] = [listeners[0]!, pools[0]!]
    const second = memberOf(randomUUID(), '10.7.0.12', 8080)
    const withMember = change(id, { pools: [{ ...pool, members: [...pool.members, second] }] })
    expect((await refusal(withMember)).field).toBe('pools[0].members[1].port')
    const movedListener = change(id, { listeners: [{ ...listener, port: 81 }] })
    expect((await refusal(movedListener)).field).toBe('listeners[0].port')
    const another = listenerOf(randomUUID(), 81, { defaultPoolId: pool.id })
    expect((await refusal(change(id, { listeners: [listener, another] }))).field).toBe('listeners[1].port')
    const waiting = { ...another, defaultPoolId: null }
    await change(id, { listeners: [listener, waiting] })
    const pointed = change(id, { listeners: [listener, another] })
    expect((await refusal(pointed)).field).toBe('listeners[1].defaultPoolId')
    await change(id, { pools: [{ ...pool, members: [...pool.members, { ...second, port: 80 }] }] })
  })
})

describe('a subnet behind a router', () => {
  const tunnelled = (cidr: string, fields: object = {}) => ({
    ...subnetDraft(cidr, null),
    reach: 'tunnel' as const,
    ...fields,
  })

  it.each([
    [
      'a node range',
      'dsr',
      tunnelled('10.8.0.0/24', { nodeRange: { first: '10.8.0.9', last: '10.8.0.10' } }),
      'nodeRange',
    ],
    ['another return path', 'gateway', tunnelled('10.8.0.0/24'), 'reach'],
    ['no router of its family', 'dsr', tunnelled('fd08::/64'), 'reach'],
  ] as const)('is refused with %s', async (_, path, draft, field) => {
    const id = path === 'dsr' ? networkId : office.network.id
    expect(await refusal(office.admission.addSubnet(id, draft))).toMatchObject({ code: 'InvalidField', field })
  })

  it('has members, no node address and no VIP, and protects the subnet that leads to it', async () => {
    const { admission, view, project } = office
    const on = view.get('network', networkId)!.value.subnets[0]!
    const { id: subnetId } = await admission.addSubnet(networkId, tunnelled('10.8.0.0/16'))
    expect(await create(parts({ address: '10.8.3.4' }))).toMatchObject({ networkId })
    expect(view.list('address').filter((one) => one.subnetId === subnetId)).toEqual([])
    const vip = { from: 'subnet', networkId, subnetId, address: null } as const
    expect(await refusal(admission.createLoadBalancer(draftOf(project.id, [vip])))).toMatchObject({
      code: 'InvalidField',
      field: 'vips[0].subnetId',
    })
    expect(await refusal(admission.removeSubnet(networkId, on.id))).toMatchObject({ code: 'InUse' })
  })
})
