import type { LoadBalancer, Placement } from '@spout/model'
import { SpoutError } from '@spout/model'
import type { Revision, Write } from '@spout/store'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { draftOf, type Office, openOffice } from './testing/office.ts'

let office: Office
let placed: LoadBalancer[]
let settled: (Revision | null)[]
beforeEach(async () => {
  office = await openOffice()
  placed = []
  settled = []
  office.admission.placeBy({
    placeNew: (loadBalancer) => {
      placed.push(loadBalancer)
      return { placement: placementOf(loadBalancer), settle: (revision) => settled.push(revision) }
    },
  })
})
afterEach(() => office.close())

const placementOf = ({ id, networkId }: LoadBalancer): Placement => ({
  ...{ id, name: '', description: '', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
  ...{ networkId, ownerNodeId: null, shard: null, reason: { code: 'NoNodeAvailable', message: 'none' }, pools: [] },
})
const create = () =>
  office.admission.createLoadBalancer(
    draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }]),
  )

it('a new load balancer and its placement are one commit, which the planner hears of', async () => {
  const { id } = await create()
  const [stored, placement] = [office.view.get('loadBalancer', id), office.view.get('placement', id)]
  expect(placement).toEqual({ value: placementOf(placed[0]!), revision: stored?.revision })
  expect(settled).toEqual([stored?.revision])
  expect((await office.store.list('placement', { scope: office.project.id })).items).toHaveLength(1)
})

it('the planner hears when the store refused it, and when it is tried again', async () => {
  const commit = office.store.commit.bind(office.store)
  const errors = [
    new SpoutError('AlreadyExists', { what: 'address', id: 'a' }),
    new SpoutError('StoreUnavailable', { reason: 'no space left on device' }),
  ]
  office.store.commit = async (writes: readonly Write[]) => {
    const error = errors.shift()
    if (error !== undefined) throw error
    return commit(writes)
  }
  await expect(create()).rejects.toMatchObject({ code: 'StoreUnavailable' })
  expect(settled).toEqual([null, null])
  await create()
  expect(settled).toEqual([null, null, await office.store.revision()])
})

it('what admission refuses is not placed', async () => {
  await office.admission.setQuota(office.project.id, { loadBalancers: 0 })
  await expect(create()).rejects.toMatchObject({ code: 'OverQuota' })
  expect([placed, settled]).toEqual([[], []])
})
