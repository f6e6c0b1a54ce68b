import { randomUUID } from 'node:crypto'
import type { LoadBalancerClass } from '@spout/model'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { draftOf, listenerOf, memberOf, type Office, openOffice, poolOf, refusal } from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const NOWHERE = '00000000-0000-4000-8000-00000000dead'
const create = (fields: object, projectId = office.project.id) =>
  office.admission.createLoadBalancer(
    draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }], fields),
  )
const newClass = (fields: object = {}): Promise<LoadBalancerClass> =>
  office.admission.createLoadBalancerClass({ name: 'gold', ...fields })

describe('a class', () => {
  test('decides about the node group, even one that is closed otherwise', async () => {
    const { admission, project } = office
    await admission.createNodeGroup({ name: 'default' })
    const group = await admission.createNodeGroup({ name: 'edge' })
    const { id } = await newClass({ nodeGroupId: group.id })
    expect((await refusal(create({ nodeGroupId: group.id }))).code).toBe('ReferenceNotFound')
    const made = await create({ classId: id })
    expect(made).toMatchObject({ classId: id, nodeGroupId: group.id, projectId: project.id })
    expect(await refusal(admission.deleteNodeGroup(group.id))).toMatchObject({ code: 'InUse' })
  })

  test('that names another group than the load balancer is refused, and nothing is taken', async () => {
    const { admission } = office
    const [one, two] = [
      await admission.createNodeGroup({ name: 'default' }),
      await admission.createNodeGroup({ name: 'two', projectIds: null }),
    ]
    const { id } = await newClass({ nodeGroupId: one.id })
    const before = office.holdings()
    expect(await refusal(create({ classId: id, nodeGroupId: two.id }))).toMatchObject({
      code: 'InvalidField',
      field: 'classId',
      message: expect.stringContaining('names another node group than nodeGroupId'),
    })
    expect(office.holdings()).toEqual(before)
  })

  test('of the default group is for networks whose load balancers name no group, whose gateway is on one node', async () => {
    const { admission } = office
    const group = await admission.createNodeGroup({ name: 'default' })
    const other = await admission.createNodeGroup({ name: 'edge' })
    const [ofDefault, ofOther] = [
      await newClass({ nodeGroupId: group.id }),
      await newClass({ name: 'far', nodeGroupId: other.id }),
    ]
    const inside = (index: number) => ({
      pools: [poolOf(randomUUID(), [memberOf(randomUUID(), `10.0.0.${10 + index}`)])],
    })
    await create(inside(1))
    expect(await create({ ...inside(2), classId: ofDefault.id })).toMatchObject({ nodeGroupId: group.id })
    expect(await refusal(create({ ...inside(3), classId: ofOther.id }))).toMatchObject({
      message: expect.stringContaining(
        "of the same network, whose members' gateway is on one node, is in another group",
      ),
    })
  })

  test('is for projects that it is open to, and while it is enabled', async () => {
    const { admission, project, stranger } = office
    const { id } = await newClass({ projectIds: [project.id] })
    expect((await create({ classId: id })).classId).toBe(id)
    const refused = await refusal(create({ classId: id }, stranger.id))
    expect(refused).toMatchObject({ code: 'ReferenceNotFound', field: 'classId' })
    expect((await refusal(create({ classId: NOWHERE }, stranger.id))).message).toBe(
      refused.message.replace(id, NOWHERE),
    )
    await admission.changeLoadBalancerClass(id, { projectIds: null, enabled: false })
    expect(await refusal(create({ classId: id }, stranger.id))).toMatchObject({
      message: 'Field classId: class gold is disabled',
    })
  })

  test('bounds the connections of listeners, at creation and later', async () => {
    const { admission } = office
    const { id } = await newClass({ connectionLimit: 100 })
    const listener = (connectionLimit: number | null) => ({ ...listenerOf(NOWHERE, 80), connectionLimit })
    const message = "Field listeners[0].connectionLimit: its load balancer's class allows 100 connections"
    expect((await refusal(create({ classId: id, listeners: [listener(101)] }))).message).toBe(message)
    const made = await create({ classId: id, listeners: [listener(100)] })
    const change = (limit: number | null) =>
      admission.changeLoadBalancer(made.id, () => ({ listeners: [listener(limit)] }))
    expect((await change(null)).listeners[0]?.connectionLimit).toBeNull()
    expect((await refusal(change(5000))).message).toBe(message)
  })

  test('keeps its settings while a load balancer is of it, and can be renamed and closed', async () => {
    const { admission } = office
    const { id } = await newClass({ connectionLimit: 100 })
    const used = await create({ classId: id })
    for (const change of [{ connectionLimit: 5 }, { monitor: { intervalMs: 500, timeoutMs: null, rise: 1, fall: 1 } }])
      expect(await refusal(admission.changeLoadBalancerClass(id, change))).toMatchObject({ code: 'InUse' })
    expect((await refusal(admission.deleteLoadBalancerClass(id))).message).toContain(`is in use by load balancer`)
    const renamed = await admission.changeLoadBalancerClass(id, { name: 'silver', enabled: false })
    expect(renamed).toMatchObject({ name: 'silver', enabled: false, connectionLimit: 100 })
    await admission.deleteLoadBalancer(used.id, { cascade: true })
    expect(await admission.changeLoadBalancerClass(id, { connectionLimit: 5 })).toMatchObject({ connectionLimit: 5 })
    await admission.deleteLoadBalancerClass(id)
    expect(office.view.get('loadBalancerClass', id)).toBeNull()
  })

  test('changes what is named of its monitors, and the rest stays', async () => {
    const { admission } = office
    const { id, monitor } = await newClass({ monitor: { intervalMs: 500 } })
    expect(monitor).toEqual({ intervalMs: 500, timeoutMs: null, rise: 2, fall: 3 })
    const change = async (fields: object) => (await admission.changeLoadBalancerClass(id, fields)).monitor
    expect(await change({ monitor: { fall: 9 } })).toEqual({ intervalMs: 500, timeoutMs: null, rise: 2, fall: 9 })
    expect(await change({ description: 'x' })).toMatchObject({ fall: 9 })
    expect(await change({ monitor: null })).toBeNull()
    expect(await refusal(change({ monitor: { rise: 0 } }))).toMatchObject({ field: 'monitor.rise' })
  })

  test('says whether its load balancers have proxies of their own, for good while it is used', async () => {
    const { admission } = office
    expect(await newClass()).not.toHaveProperty('dedicatedProxy')
    const { id, dedicatedProxy } = await newClass({ name: 'own', dedicatedProxy: { memoryMegabytes: 64 } })
    expect(dedicatedProxy).toEqual({ memoryMegabytes: 64 })
    const change = (fields: object) => admission.changeLoadBalancerClass(id, fields)
    expect(await change({ dedicatedProxy: { processors: 0.5 } })).toMatchObject({
      dedicatedProxy: { memoryMegabytes: 64, processors: 0.5 },
    })
    expect((await change({ description: 'x' })).dedicatedProxy).toEqual({ memoryMegabytes: 64, processors: 0.5 })
    expect(await change({ dedicatedProxy: null })).not.toHaveProperty('dedicatedProxy')
    expect((await change({ dedicatedProxy: {} })).dedicatedProxy).toEqual({})
    for (const [field, value] of [
      ['memoryMegabytes', 31],
      ['processors', 0],
      ['connections', 1.5],
    ] as const)
      expect(await refusal(change({ dedicatedProxy: { [field]: value } }))).toMatchObject({
        field: `dedicatedProxy.${field}`,
      })
    await create({ classId: id })
    for (const proxy of [null, { memoryMegabytes: 128 }])
      expect(await refusal(change({ dedicatedProxy: proxy }))).toMatchObject({ code: 'InUse' })
  })

  test('limits the size of requests', async () => {
    const { admission } = office
    const { id, requestSizes } = await newClass({ name: 'sized', requestSizes: { headerBytes: 8192 } })
    expect(requestSizes).toEqual({ headerBytes: 8192, bodyBytes: null })
    const change = (fields: object) => admission.changeLoadBalancerClass(id, fields)
    expect((await change({ requestSizes: { bodyBytes: 1000 } })).requestSizes).toEqual({
      headerBytes: 8192,
      bodyBytes: 1000,
    })
    for (const [field, value] of [
      ['headerBytes', 1023],
      // The shared proxies have no memory for it.
      ['headerBytes', 12_289],
      ['headerBytes', 65_537],
      ['bodyBytes', 0],
      ['bodyBytes', 2 ** 40 + 1],
    ] as const)
      expect(await refusal(change({ requestSizes: { [field]: value } }))).toMatchObject({
        field: `requestSizes.${field}`,
      })
    const own = { dedicatedProxy: {}, requestSizes: { headerBytes: 65_536 } }
    expect((await change(own)).requestSizes).toEqual({ headerBytes: 65_536, bodyBytes: 1000 })
    expect(await refusal(change({ dedicatedProxy: null }))).toMatchObject({ field: 'requestSizes.headerBytes' })
    expect(await change({ requestSizes: { headerBytes: null, bodyBytes: null } })).not.toHaveProperty('requestSizes')
    await create({ classId: id })
    expect(await refusal(change({ requestSizes: { bodyBytes: 1 } }))).toMatchObject({ code: 'InUse' })
  })

  test('is not deleted while a load balancer of it is being made', async () => {
    const { admission } = office
    const { id } = await newClass()
    const [made, deleted] = await Promise.allSettled([create({ classId: id }), admission.deleteLoadBalancerClass(id)])
    expect([made.status, deleted.status].toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(office.view.get('loadBalancerClass', id) === null).toBe(made.status === 'rejected')
  })

  test('has a name of its own, and names what exists', async () => {
    const { admission } = office
    const other = await admission.createLoadBalancerClass({ name: 'other' })
    await newClass()
    const taken = { code: 'NameTaken', message: 'Field name: a load balancer class named gold already exists' }
    expect(await refusal(newClass())).toMatchObject(taken)
    expect(await refusal(admission.changeLoadBalancerClass(other.id, { name: 'gold' }))).toMatchObject(taken)
    const both = await Promise.allSettled([newClass({ name: 'x' }), newClass({ name: 'x' })])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    for (const [fields, field] of [
      [{ nodeGroupId: NOWHERE }, 'nodeGroupId'],
      [{ projectIds: [NOWHERE] }, 'projectIds[0]'],
    ] as const)
      expect(await refusal(newClass({ name: 'y', ...fields }))).toMatchObject({ code: 'ReferenceNotFound', field })
  })
})

describe('an availability zone', () => {
  test('names the group and the networks of the first VIP', async () => {
    const { admission, network, pool } = office
    const group = await admission.createNodeGroup({ name: 'default' })
    const zone = (fields: object) =>
      admission.createAvailabilityZone({ description: '', enabled: true, nodeGroupId: null, name: 'z', ...fields })
    const east = await zone({ name: 'east', nodeGroupId: group.id, vipNetworkIds: [pool.id] })
    const inside = await zone({ name: 'inside', vipNetworkIds: [network.id] })
    expect(await create({ zoneId: east.id })).toMatchObject({ zoneId: east.id, nodeGroupId: group.id })
    expect((await refusal(create({ zoneId: inside.id }))).message).toBe(
      `Field vips[0]: availability zone inside has no addresses of network ${pool.id}`,
    )
    expect((await refusal(admission.deleteAvailabilityZone(east.id))).message).toContain('zone east is in use')
    await admission.deleteAvailabilityZone(inside.id)
  })
})

test('a profile stays while a class was made of it', async () => {
  const { admission } = office
  const profile = await admission.createOctaviaProfile({
    name: 'p',
    description: '',
    of: 'loadBalancerClass',
    provider: 'spout',
    data: '{}',
  })
  const { id } = await newClass({ profileId: profile.id })
  for (const change of [{ data: '{"node_group":"x"}' }, { provider: 'amphora' }])
    expect(await refusal(admission.changeOctaviaProfile(profile.id, change))).toMatchObject({ code: 'InUse' })
  expect((await admission.changeOctaviaProfile(profile.id, { name: 'q' })).name).toBe('q')
  expect(await refusal(admission.deleteOctaviaProfile(profile.id))).toMatchObject({ code: 'InUse' })
  await admission.deleteLoadBalancerClass(id)
  await admission.deleteOctaviaProfile(profile.id)
  expect(office.view.list('octaviaProfile')).toEqual([])
})
