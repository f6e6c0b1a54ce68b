import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { draftOf, type Office, openOffice, refusal } from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const from = (poolId: string, address: string | null = null) => ({ from: 'pool', poolId, address }) as const
const drain = (draining: boolean) => office.admission.changeAddressPool(office.pool.id, { draining })
const refused = (field: string) => ({
  code: 'AddressPoolDraining',
  params: { field, pool: 'public' },
  retry: 'onChange',
})

describe('an address pool that is draining', () => {
  it('gives out no new address for any use, and the error names field and pool', async () => {
    const { admission, pool, project } = office
    const before = office.holdings()
    expect(await drain(true)).toMatchObject({ id: pool.id, draining: true, updatedAt: expect.any(String) })
    const error = await refusal(admission.createLoadBalancer(draftOf(project.id, [from(pool.id)])))
    expect(error).toMatchObject(refused('vips[0].poolId'))
    expect(error.message).toBe('Field vips[0].poolId: address pool public is draining: it gives no new addresses')
    const named = draftOf(project.id, [from(pool.id, '192.0.2.77')])
    expect(await refusal(admission.createLoadBalancer(named))).toMatchObject(refused('vips[0].poolId'))
    for (const use of ['floating', 'port'] as const)
      expect(
        await refusal(admission.reserveAddress(project.id, from(pool.id), use, { name: '', description: '' })),
      ).toMatchObject(refused('poolId'))
    expect(office.holdings()).toEqual(before)
  })

  it('leaves load balancers with its addresses alone; they can change and be deleted', async () => {
    const { admission, pool, project, view } = office
    const text = { name: '', description: '' }
    const kept = await admission.reserveAddress(project.id, from(pool.id), 'port', text)
    const taken = await admission.createLoadBalancer(draftOf(project.id, [from(pool.id)]))
    await drain(true)
    const { vips } = await admission.changeLoadBalancer(taken.id, () => ({ name: 'renamed' }))
    expect(vips).toEqual(taken.vips)
    // An address that was reserved before does not count as a new one.
    const onKept = draftOf(project.id, [{ from: 'port', portId: kept.portId }])
    expect((await admission.createLoadBalancer(onKept)).vips[0]?.address).toBe(kept.address)
    expect(await refusal(admission.addVip(taken.id, from(pool.id)))).toMatchObject(refused('poolId'))
    await admission.deleteLoadBalancer(taken.id, { cascade: true })
    expect(view.get('address', taken.vips[0]?.addressId ?? '')?.value.quarantineUntil).not.toBeNull()
    // It is in quarantine for this project, which gets it back only when the pool gives addresses again.
    const again = draftOf(project.id, [from(pool.id, taken.vips[0]?.address)])
    expect(await refusal(admission.createLoadBalancer(again))).toMatchObject(refused('vips[0].poolId'))
  })

  it('gives out addresses again once draining ends, and nothing else of the pool changes', async () => {
    const { admission, pool, project } = office
    await drain(true)
    const { updatedAt, ...rest } = await drain(false)
    expect({ ...rest, updatedAt: null }).toEqual(pool)
    expect(await drain(false)).toMatchObject({ updatedAt })
    await admission.createLoadBalancer(draftOf(project.id, [from(pool.id)]))
    const ranges = [{ first: '192.0.2.1', last: '192.0.2.2' }]
    const unknown = admission.changeAddressPool(pool.id, { ranges } as object)
    expect(await refusal(unknown)).toMatchObject({ code: 'UnknownField', params: { field: 'ranges' } })
    expect(await refusal(admission.changeAddressPool(randomUUID(), { draining: true }))).toMatchObject({
      code: 'NotFound',
    })
  })

  it('can be created draining', async () => {
    const { id: _, createdAt: _1, updatedAt: _2, ...draft } = office.pool
    const ranges = [{ first: '192.0.2.251', last: '192.0.2.252' }]
    const made = await office.admission.createAddressPool({ ...draft, name: 'spare', ranges, draining: true })
    const request = draftOf(office.project.id, [from(made.id)])
    expect((await refusal(office.admission.createLoadBalancer(request))).code).toBe('AddressPoolDraining')
  })
})
