import { randomUUID } from 'node:crypto'
import { DEFAULT_QUOTA, type LoadBalancer, type Member } from '@spout/model'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MemberChange, VipRequest } from '../contract/load-balancer-admission.ts'
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
} from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ defaultQuota: { ...DEFAULT_QUOTA, members: 20 } })
})
afterEach(() => office.close())

const fromPool = (): VipRequest => ({ from: 'pool', poolId: office.pool.id, address: null })
const member = (last: number, port = 80, fields: Partial<Member> = {}): Member =>
  memberOf(randomUUID(), `10.0.0.${last}`, port, fields)

async function create(members: Member[], fields: Parameters<typeof poolOf>[2] = {}) {
  const pool = poolOf(randomUUID(), members, fields)
  const listener = listenerOf(randomUUID(), 80, { defaultPoolId: pool.id })
  return office.admission.createLoadBalancer(
    draftOf(office.project.id, [fromPool()], { pools: [pool], listeners: [listener] }),
  )
}
const change = ({ id, pools }: LoadBalancer, wanted: Partial<MemberChange>) =>
  office.admission.changeMembers(id, () => ({ poolId: pools[0]!.id, put: [], remove: [], ...wanted }))
const endpoints = ({ pools }: LoadBalancer): string[] =>
  pools[0]!.members.map(({ address, port }) => `${address}:${port}`)

describe('members that come, change and go', () => {
  test('the other members stay the same objects, in their places', async () => {
    const made = await create([member(5), member(6), member(7)])
    office.later(1000)
    const changed = await change(made, { put: [member(8)], remove: [{ address: '10.0.0.6', port: 80 }] })
    expect(endpoints(changed)).toEqual(['10.0.0.5:80', '10.0.0.7:80', '10.0.0.8:80'])
    expect(changed).toMatchObject({
      generation: 2,
      networkId: office.network.id,
      updatedAt: '2026-01-01T00:00:01.000Z',
    })
    expect(changed.pools[0]!.updatedAt).toBe(made.pools[0]!.updatedAt)
    const shown = office.view.get('loadBalancer', made.id)!.value
    expect(shown).toEqual(changed)
    const heavier = { ...shown.pools[0]!.members[1]!, weight: 7 }
    const again = await change(made, { put: [heavier] })
    expect(again.pools[0]!.members[1]).toEqual(heavier)
    expect(again.pools[0]!.members[0]).toBe(shown.pools[0]!.members[0])
    expect(office.admission.quotaOf(office.project.id).used.members).toBe(3)
  })

  test('a change without effect is none, and a name makes no new generation', async () => {
    const made = await create([member(5)])
    const [only] = made.pools[0]!.members
    expect(await change(made, { put: [only!], remove: [{ address: '10.0.0.99', port: 80 }] })).toEqual(made)
    expect(await change(made, { put: [{ ...only!, name: 'other' }] })).toMatchObject({ generation: 1 })
  })

  test('a new member is found by its id, a removed one is not', async () => {
    const made = await create([member(5)])
    const come = member(6)
    await change(made, { put: [come], remove: [{ address: '10.0.0.5', port: 80 }] })
    expect(office.view.child(come.id)).toEqual({ kind: 'member', loadBalancerId: made.id, poolId: made.pools[0]!.id })
    expect(office.view.child(made.pools[0]!.members[0]!.id)).toBeNull()
  })

  test('the first members determine the network', async () => {
    const second = await office.admission.createNetwork({
      ...networkDraft(office.project.id),
      segment: { physicalNetwork: 'second', vlan: null },
    })
    await office.admission.addSubnet(second.id, subnetDraft('10.9.0.0/24', '10.9.0.1'))
    const made = await create([])
    expect(made.networkId).toBeNull()
    expect((await change(made, { put: [memberOf(randomUUID(), '10.9.0.5')] })).networkId).toBe(second.id)
  })

  test('a member may name a subnet of the other IP version in its network, which then stays', async () => {
    const { network, subnet, admission } = office
    const wide = await admission.addSubnet(network.id, subnetDraft('fd10::/64', 'fd10::1'))
    const named = memberOf(randomUUID(), 'fd10::5', 80, { subnetId: subnet.id })
    const changed = await change(await create([]), { put: [named] })
    expect(changed).toMatchObject({ networkId: network.id, pools: [{ members: [named] }] })
    await expect(admission.removeSubnet(network.id, subnet.id)).rejects.toThrow('member fd10::5, which names it')
    await change(changed, { remove: [named] })
    await admission.removeSubnet(network.id, subnet.id)
    expect(office.view.get('network', network.id)!.value.subnets.map(({ id }) => id)).toEqual([wide.id])
  })

  test('concurrent changes of one load balancer are all applied', async () => {
    const made = await create([member(5)])
    await Promise.all(Array.from({ length: 10 }, (_, at) => change(made, { put: [member(10 + at)] })))
    expect(office.view.get('loadBalancer', made.id)!.value.pools[0]!.members).toHaveLength(11)
  })
})

describe('what is refused stores nothing, and names the field', () => {
  const id = randomUUID()
  test.each<[string, (made: LoadBalancer) => Partial<MemberChange>, object]>([
    ['a pool that is not there', () => ({ poolId: id }), { code: 'NotFound' }],
    ['a port that is none', () => ({ put: [member(6, 0)] }), { code: 'InvalidField', field: 'put[0].port' }],
    ['a loopback address', () => ({ put: [member(6), memberOf(id, '127.0.0.1')] }), { field: 'put[1].address' }],
    [
      'an address of no network',
      () => ({ put: [memberOf(id, '10.77.0.1')] }),
      { code: 'MemberOutsideNetworks', field: 'put[0].address' },
    ],
    ['the gateway', () => ({ put: [member(6), member(1)] }), { code: 'AddressForbidden', field: 'put[1].address' }],
    [
      'its own address',
      ({ vips }) => ({ put: [memberOf(id, vips[0]!.address)] }),
      { code: 'AddressForbidden', field: 'put[0].address' },
    ],
    ['one endpoint twice', () => ({ put: [member(6), member(6)] }), { code: 'MemberTaken', field: 'put[1].port' }],
    ['an endpoint under another id', () => ({ put: [member(5)] }), { code: 'MemberTaken', field: 'put[0].port' }],
    ['an id of another part', ({ pools }) => ({ put: [memberOf(pools[0]!.id, '10.0.0.6')] }), { field: 'put[0].id' }],
    ['one id twice', () => ({ put: [memberOf(id, '10.0.0.6'), memberOf(id, '10.0.0.7')] }), { field: 'put[1].id' }],
    [
      'more than the quota',
      () => ({ put: Array.from({ length: 20 }, (_, at) => member(10 + at)) }),
      { code: 'OverQuota' },
    ],
    [
      'a subnet that is not there',
      () => ({ put: [member(6, 80, { subnetId: id })] }),
      { code: 'ReferenceNotFound', field: 'put[0].subnetId' },
    ],
  ])('%s', async (_, wanted, refused) => {
    const made = await create([member(5)])
    const before = office.holdings()
    expect(await refusal(change(made, wanted(made)))).toMatchObject(refused)
    expect(office.holdings()).toEqual(before)
    expect(office.view.get('loadBalancer', made.id)!.value).toEqual(made)
  })

  test('a check that cannot ask an SCTP member', async () => {
    const monitor = {
      ...poolOf(id, []),
      tags: [],
      type: 'tcp',
      intervalMs: 1000,
      timeoutMs: 800,
      rise: 1,
      fall: 1,
      http: null,
    }
    const { id: monitorId, name, description, createdAt, updatedAt, enabled } = monitor
    const made = await office.admission.createLoadBalancer(
      draftOf(office.project.id, [fromPool()], {
        pools: [
          poolOf(randomUUID(), [], {
            protocol: 'sctp',
            monitor: {
              ...{ id: monitorId, name, description, createdAt, updatedAt, tags: [], enabled },
              ...{ type: 'tcp', intervalMs: 1000, timeoutMs: 800, rise: 1, fall: 1, http: null },
            },
          }),
        ],
      }),
    )
    expect(await refusal(change(made, { put: [member(6)] }))).toMatchObject({ field: 'put[0].monitorPort' })
    expect(endpoints(await change(made, { put: [member(6, 80, { monitorPort: 81 })] }))).toEqual(['10.0.0.6:80'])
  })

  test('members that the return path cannot serve', async () => {
    const network = await office.admission.createNetwork({
      ...networkDraft(office.project.id, 'dsr'),
      segment: { physicalNetwork: 'direct', vlan: null },
    })
    await office.admission.addSubnet(network.id, subnetDraft('10.9.0.0/24', null))
    const made = await create([memberOf(randomUUID(), '10.9.0.5')])
    expect(await refusal(change(made, { put: [memberOf(randomUUID(), '10.9.0.6', 81)] }))).toMatchObject({
      field: 'put[0].port',
    })
  })
})

test('property: the result is the same as replacing the whole pool', async () => {
  const endpoint = fc.record({ last: fc.integer({ min: 10, max: 14 }), weight: fc.integer({ min: 0, max: 2 }) })
  const members = fc.uniqueArray(endpoint, { selector: ({ last }) => last })
  await fc.assert(
    fc.asyncProperty(members, members, fc.uniqueArray(fc.integer({ min: 10, max: 14 })), async (had, put, remove) => {
      const made = await create(had.map(({ last, weight }) => member(last, 80, { weight })))
      const before = made.pools[0]!.members
      const known = new Map(before.map((one) => [one.address, one]))
      const wanted = put.map(({ last, weight }) => {
        const there = remove.includes(last) ? undefined : known.get(`10.0.0.${last}`)
        return { ...(there ?? member(last)), weight }
      })
      const changed = await change(made, {
        put: wanted,
        remove: remove.map((last) => ({ address: `10.0.0.${last}`, port: 80 })),
      })
      const says = (list: readonly Member[]) => list.map(({ address, weight }) => `${address} ${weight}`).sort()
      const gone = new Set([...remove, ...put.map(({ last }) => last)].map((last) => `10.0.0.${last}`))
      expect(says(changed.pools[0]!.members)).toEqual(
        says([...before.filter(({ address }) => !gone.has(address)), ...wanted]),
      )
      await office.admission.deleteLoadBalancer(made.id, { cascade: true })
      office.later(60_000)
      expect(office.admission.quotaOf(office.project.id).used.members).toBe(0)
    }),
    { numRuns: 30 },
  )
})
