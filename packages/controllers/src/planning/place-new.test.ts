import type { LoadBalancer } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, pool, uuid } from '../testing/model.ts'

const [N1, N2] = [uuid('node', 1), uuid('node', 2)]

let plane: ControlPlane
beforeEach(async () => {
  plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.report(N1)
  await plane.report(N2)
})
afterEach(() => plane.stop())

const entriesOf = (number: number) => [N1, N2].map((nodeId) => plane.entry(nodeId, `lb/${uuid('lb', number)}`))
const ownerOf = (number: number): string | null =>
  plane.view.get('placement', uuid('lb', number))?.value.ownerNodeId ?? null
const withMembers = (number: number, members: number, fields: Partial<LoadBalancer> = {}): LoadBalancer =>
  loadBalancer(number, {
    pools: [
      pool(
        number,
        Array.from({ length: members }, (_, n) => `10.0.0.${n + 10}`),
      ),
    ],
    ...fields,
  })

/** Numbers of pools are left out, since a freed one is reused last. */
const withoutNumbers = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, one: unknown) => (key === 'number' || key === 'pool' ? undefined : one)))

describe('a load balancer that is stored with its placement', () => {
  it('is published without another commit, as it is when it is placed afterwards', async () => {
    // Its creation gives the nodes their addresses in the network.
    await plane.put(['loadBalancer', loadBalancer(9)])
    await plane.create(withMembers(1, 3))
    const { value, revision } = plane.view.get('placement', uuid('lb', 1))!
    expect(await plane.store.revision()).toBe(revision)
    const published = entriesOf(1)
    expect(published).not.toContain(null)
    await plane.delete('loadBalancer', uuid('lb', 1))
    await plane.put(['loadBalancer', withMembers(1, 3)])
    expect(withoutNumbers(entriesOf(1))).toEqual(withoutNumbers(published))
    const after = plane.view.get('placement', uuid('lb', 1))!.value
    expect(withoutNumbers(after)).toEqual(withoutNumbers(value))
  })

  it('is on no node before it is stored, and counts at once where others go', async () => {
    expect([1, 2].map((number) => plane.plans.placeNew(loadBalancer(number))?.placement.ownerNodeId)).toEqual([N1, N2])
    await plane.idle()
    expect(plane.published([N1, N2])).toEqual({ [N1]: {}, [N2]: {} })
  })

  it('leaves nothing when it was not stored', async () => {
    const refused = plane.plans.placeNew(loadBalancer(1))
    refused?.settle(null)
    expect(plane.plans.placeNew(loadBalancer(2))?.placement.ownerNodeId).toBe(N1)
    expect(plane.plans.placeNew(loadBalancer(1))?.placement.ownerNodeId).toBe(N2)
  })

  it('is changed afterwards as any other', async () => {
    await plane.create(withMembers(1, 3))
    await plane.put(['loadBalancer', withMembers(1, 4, { generation: 2 })])
    expect(entriesOf(1)[0]).toMatchObject({ generation: 2, pools: [{ members: { length: 4 } }] })
    await plane.delete('loadBalancer', uuid('lb', 1))
    expect((await plane.store.list('placement')).items).toEqual([])
  })

  it("is the first with its network's gateway, and others follow it there", async () => {
    await plane.put(['network', network(1, { returnPath: 'gateway' })])
    const first = plane.plans.placeNew(loadBalancer(1))!
    await plane.put(['loadBalancer', loadBalancer(2)])
    expect(ownerOf(2)).toBe(N1)
    first.settle(null)
    await plane.create(loadBalancer(3))
    expect(ownerOf(3)).toBe(ownerOf(2))
    expect(plane.entry(N1, 'domain/1')).toMatchObject({ gateway: { via: 'l2' } })
  })
})

describe('is placed only after it was stored', () => {
  it('without a network', () => {
    expect(plane.plans.placeNew(loadBalancer(1, { networkId: null }))).toBeNull()
  })
  it('with very many members', () => {
    expect(plane.plans.placeNew(withMembers(1, 101))).toBeNull()
  })
  it('with an id that one has whose placement is there', async () => {
    await plane.create(loadBalancer(1))
    expect(plane.plans.placeNew(loadBalancer(1))).toBeNull()
    expect(ownerOf(1)).toBe(N1)
  })
  it('when planning it throws', async () => {
    const broken = { ...loadBalancer(1), pools: null } as unknown as LoadBalancer
    expect(plane.plans.placeNew(broken)).toBeNull()
  })
  it('once the controller has stopped', async () => {
    await plane.plans.stop()
    expect(plane.plans.placeNew(loadBalancer(1))).toBeNull()
  })
})
