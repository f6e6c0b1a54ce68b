import { FINALIZER } from '@spout/custom-resources'
import type { BgpSessionReport } from '@spout/model'
import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ConfigBed,
  condition,
  hasReason,
  isReady,
  openConfigBed,
  type Running,
  type Stated,
} from './testing/config-bed.fixture.ts'

/** Longer than the loop waits for anything. */
const REST_MS = 1500

let bed: ConfigBed
let running: Running
beforeAll(async () => {
  bed = await openConfigBed()
  running = bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

const pools = () => bed.spout.view.list('addressPool')
const poolNamed = (name: string) => pools().find((one) => one.name === name)
const counts = ({ status }: Stated) => status?.['addresses'] as Record<string, number> | undefined
const one = (subnet: string, first: string, last = first, more: object = {}) => ({
  subnet,
  addresses: [{ first, last }],
  ...more,
})
const loadBalancer = (name: string, poolId: string, address: string | null = null) =>
  bed.spout.admission.createLoadBalancer({
    projectId: bed.project.id,
    name,
    description: '',
    tags: [],
    enabled: true,
    vips: [{ from: 'pool', poolId, address }],
    listeners: [],
    pools: [],
    nodeGroupId: null,
    annotations: {},
  })

describe('address pools', () => {
  test('are made, counted, and gone again', async () => {
    const spec = {
      subnet: '192.0.2.0/24',
      addresses: [{ cidr: '192.0.2.64/30' }, { first: '192.0.2.80', last: '192.0.2.81' }],
    }
    await bed.create('AddressPool', 'public', {
      ...spec,
      gateway: '192.0.2.1',
      projects: ['tenant'],
      quarantineSeconds: 600,
    })
    const made = await bed.when('AddressPool', 'public', 'ready', isReady)
    expect(poolNamed('public')).toMatchObject({
      cidr: '192.0.2.0/24',
      gatewayIp: '192.0.2.1',
      ranges: [
        { first: '192.0.2.64', last: '192.0.2.67' },
        { first: '192.0.2.80', last: '192.0.2.81' },
      ],
      projectIds: [bed.project.id],
      quarantineSeconds: 600,
      id: made.status?.['id'],
    })
    expect(made.metadata.finalizers).toContain(FINALIZER)
    expect(counts(made)).toEqual({ total: 6, used: 0, resting: 0, free: 6 })
    const taken = await loadBalancer('web', String(made.status?.['id']))
    await bed.when('AddressPool', 'public', 'one used', (pool) => counts(pool)?.['used'] === 1)
    await bed.spout.admission.deleteLoadBalancer(taken.id, { cascade: true })
    const resting = await bed.when('AddressPool', 'public', 'one resting', (pool) => counts(pool)?.['resting'] === 1)
    expect(counts(resting)).toEqual({ total: 6, used: 0, resting: 1, free: 5 })
    await bed.remove('AddressPool', 'public')
    await bed.gone('AddressPool', 'public')
    expect(poolNamed('public')).toBeUndefined()
  })

  test('that overlap report it, and are created once they do not; others are not delayed', async () => {
    await bed.create('AddressPool', 'first', one('198.51.100.0/24', '198.51.100.10', '198.51.100.20'))
    await bed.when('AddressPool', 'first', 'ready', isReady)
    await bed.create('AddressPool', 'second', one('198.51.100.0/24', '198.51.100.20', '198.51.100.30'))
    await bed.create('AddressPool', 'third', one('198.51.100.0/24', '198.51.100.40'))
    const refused = await bed.when('AddressPool', 'second', 'refused', hasReason('InvalidField'))
    expect(condition(refused)?.message).toBe(
      'Field addresses[0]: overlaps 198.51.100.10-198.51.100.20, which is in an address pool already',
    )
    await bed.when('AddressPool', 'third', 'ready', isReady)
    await bed.change('AddressPool', 'second', one('198.51.100.0/24', '198.51.100.21', '198.51.100.30'))
    await bed.when('AddressPool', 'second', 'ready', isReady)
    await expect(
      bed.change('AddressPool', 'second', one('198.51.100.0/24', '198.51.100.22', '198.51.100.30')),
    ).rejects.toThrow('only draining can be changed')
  })

  test('say when they have no address left, and again when they have', async () => {
    await bed.create(
      'AddressPool',
      'tiny',
      one('203.0.113.0/24', '203.0.113.1', '203.0.113.1', { quarantineSeconds: 0 }),
    )
    const made = await bed.when('AddressPool', 'tiny', 'ready', isReady)
    expect(condition(made, 'Exhausted')).toMatchObject({ status: 'False' })
    const taken = await loadBalancer('only', String(made.status?.['id']))
    const full = await bed.when(
      'AddressPool',
      'tiny',
      'full',
      (pool) => condition(pool, 'Exhausted')?.status === 'True',
    )
    expect(condition(full, 'Exhausted')).toMatchObject({
      reason: 'NoAddressFree',
      message: '0 of 1 addresses are free.',
    })
    expect(isReady(full)).toBe(true)
    await bed.spout.admission.deleteLoadBalancer(taken.id, { cascade: true })
    await bed.when('AddressPool', 'tiny', 'not full', (pool) => condition(pool, 'Exhausted')?.status === 'False')
  })

  test('drain and give addresses again, also once they are in use', async () => {
    await bed.create('AddressPool', 'old', one('203.0.113.0/24', '203.0.113.8', '203.0.113.9'))
    const made = await bed.when('AddressPool', 'old', 'ready', isReady)
    expect(condition(made, 'Draining')).toMatchObject({ status: 'False', reason: 'GivesAddresses' })
    const taken = await loadBalancer('stays', String(made.status?.['id']))
    const drains = (status: string) => (pool: Parameters<typeof isReady>[0]) =>
      condition(pool, 'Draining')?.status === status
    await bed.change('AddressPool', 'old', { draining: true })
    const draining = await bed.when('AddressPool', 'old', 'draining', drains('True'))
    expect(condition(draining, 'Draining')?.message).toBe('It gives no new addresses; those in use stay.')
    expect(isReady(draining)).toBe(true)
    expect(poolNamed('old')).toMatchObject({ draining: true })
    expect(bed.spout.view.get('loadBalancer', taken.id)?.value.vips).toEqual(taken.vips)
    await expect(bed.change('AddressPool', 'old', { draining: false, quarantineSeconds: 7 })).rejects.toThrow(
      'only draining can be changed',
    )
    await bed.change('AddressPool', 'old', { draining: false })
    await bed.when('AddressPool', 'old', 'not draining', drains('False'))
    expect(poolNamed('old')).toMatchObject({ draining: false })
    await bed.spout.admission.deleteLoadBalancer(taken.id, { cascade: true })
  })

  test('in use stay when they are deleted, and name their users', async () => {
    await bed.create('AddressPool', 'used', one('203.0.113.0/24', '203.0.113.5', '203.0.113.6'))
    const made = await bed.when('AddressPool', 'used', 'ready', isReady)
    const taken = await loadBalancer('shop', String(made.status?.['id']))
    await bed.when('AddressPool', 'used', 'one used', (pool) => counts(pool)?.['used'] === 1)
    await bed.remove('AddressPool', 'used')
    const held = await bed.when('AddressPool', 'used', 'held', hasReason('InUse'))
    expect(held.metadata.deletionTimestamp).toBeDefined()
    expect(condition(held)?.message).toMatch(
      /^Cannot be deleted yet\. .*1 address taken from it: load balancers shop\. It gives no new addresses; those in use stay\.$/,
    )
    expect(poolNamed('used')).toMatchObject({ draining: true })
    await expect(loadBalancer('late', String(made.status?.['id']))).rejects.toMatchObject({
      code: 'AddressPoolDraining',
    })
    await bed.spout.admission.deleteLoadBalancer(taken.id, { cascade: true })
    await bed.gone('AddressPool', 'used')
    expect(poolNamed('used')).toBeUndefined()
  })

  test('made by hand are never touched', async () => {
    const byHand = await bed.spout.admission.createAddressPool({
      name: 'by-hand',
      description: 'mine',
      cidr: '10.9.0.0/24',
      ranges: [{ first: '10.9.0.1', last: '10.9.0.2' }],
      gatewayIp: null,
      projectIds: null,
      quarantineSeconds: 0,
    })
    await bed.create('AddressPool', 'by-hand', one('10.9.0.0/24', '10.9.0.1', '10.9.0.2'))
    const refused = await bed.when('AddressPool', 'by-hand', 'refused', hasReason('NameTaken'))
    expect(condition(refused)?.message).toContain('made by hand: it is left as it is')
    await bed.remove('AddressPool', 'by-hand')
    await bed.gone('AddressPool', 'by-hand')
    expect(poolNamed('by-hand')).toEqual(byHand)
  })

  test('name projects that are there later', async () => {
    await bed.create('AddressPool', 'later', one('10.8.0.0/24', '10.8.0.1', '10.8.0.2', { projects: ['newcomer'] }))
    const refused = await bed.when('AddressPool', 'later', 'refused', hasReason('ReferenceNotFound'))
    expect(condition(refused)?.message).toBe('Field projects[0]: project newcomer not found')
    const project = await bed.spout.admission.createProject({ name: 'newcomer', description: '' })
    await bed.when('AddressPool', 'later', 'ready', isReady)
    expect(poolNamed('later')?.projectIds).toEqual([project.id])
  })
})

describe('node groups, BGP peers and advertisements', () => {
  test('are made, changed in place, and refer to each other by name in any order', async () => {
    await bed.create('BgpAdvertisement', 'say', { addressPools: ['routed'], peers: ['tor'], communities: ['64512:7'] })
    await bed.create('BgpPeer', 'tor', { peerAddress: '192.0.2.1', peerASN: 64_513, nodeGroups: ['edge'] })
    await bed.when('BgpAdvertisement', 'say', 'refused', hasReason('ReferenceNotFound'))
    await bed.when('BgpPeer', 'tor', 'refused', hasReason('ReferenceNotFound'))
    await bed.create('NodeGroup', 'edge', { announcer: 'bgp', bgp: { localASN: 64_512 } })
    await bed.create('AddressPool', 'routed', one('10.7.0.0/24', '10.7.0.1', '10.7.0.9'))
    for (const [kind, name] of [
      ['NodeGroup', 'edge'],
      ['BgpPeer', 'tor'],
      ['BgpAdvertisement', 'say'],
    ] as const)
      await bed.when(kind, name, 'ready', isReady)
    const group = bed.spout.view.list('nodeGroup').find(({ name }) => name === 'edge')
    expect(group).toMatchObject({ announcer: 'bgp', bgp: { localAs: 64_512, policy: 'healthy', drainSeconds: 10 } })
    expect((await bed.get('NodeGroup', 'edge')).status).toMatchObject({
      nodes: { total: 0, connected: 0 },
      routerIds: group?.vrrp.routerIds,
    })
    await bed.change('NodeGroup', 'edge', { fabric: { reaches: '2001:db8::01' } })
    const fabric = () => bed.spout.view.get('nodeGroup', group?.id ?? '')?.value.fabric
    await bed.until('the interface', () => fabric()?.reaches === '2001:db8::1')
    const isFound = (group: Parameters<typeof condition>[0]) => condition(group, 'FabricFound')?.status === 'True'
    await bed.when('NodeGroup', 'edge', 'found', isFound)
    await bed.change('NodeGroup', 'edge', { fabric: null })
    await bed.until('no interface', () => fabric() === undefined)
    const peer = () => bed.spout.view.list('bgpPeer').find(({ name }) => name === 'tor')
    expect(peer()).toMatchObject({ as: 64_513, nodeSelection: { nodeGroupIds: [group?.id], nodeIds: [] } })
    await bed.change('BgpPeer', 'tor', { holdTimeSeconds: 90, keepaliveTimeSeconds: 30, bfd: { profile: 'none' } })
    await bed.until('the change', () => peer()?.holdTimeS === 90 && peer()?.bfd === 'none')
    await bed.change('BgpPeer', 'tor', { holdTimeSeconds: null, keepaliveTimeSeconds: null })
    await bed.until('the default', () => peer()?.holdTimeS === null)
    await bed.change('NodeGroup', 'edge', { bgp: { localASN: 64_999 } })
    await bed.until('the AS', () => bed.spout.view.get('nodeGroup', group?.id ?? '')?.value.bgp?.localAs === 64_999)
    expect(condition(await bed.get('BgpPeer', 'tor'), 'Established')).toMatchObject({
      status: 'Unknown',
      reason: 'NoSession',
    })
  })

  test('changes through the API are undone', async () => {
    const peer = () => bed.spout.view.list('bgpPeer').find(({ name }) => name === 'tor')
    await bed.spout.admission.changeBgpPeer(peer()?.id ?? '', { as: 1 })
    await bed.until('the AS of the object', () => peer()?.as === 64_513)
  })

  test('show their sessions', async () => {
    const peer = bed.spout.view.list('bgpPeer').find(({ name }) => name === 'tor')
    const group = bed.spout.view.list('nodeGroup').find(({ name }) => name === 'edge')
    const session = (state: BgpSessionReport['state'], lastError: string | null): BgpSessionReport => ({
      peerId: peer?.id ?? '',
      state,
      since: '2026-01-01T00:00:00.000Z',
      announced: 3,
      lastError,
      bfd: null,
    })
    for (const name of ['n1', 'n2']) {
      const draft = { nodeName: name, nodeGroupId: group?.id ?? '', ttlSeconds: 60 }
      const { secret } = await bed.spout.admission.createEnrolmentToken(draft)
      const { id } = await bed.spout.admission.enrolNode(secret, async () =>
        name === 'n1' ? 'a'.repeat(64) : 'b'.repeat(64),
      )
      bed.spout.status.nodes.set(id, {
        connection: 'connected',
        bgpSessions: [name === 'n1' ? session('established', null) : session('active', 'Connection refused')],
      })
    }
    const shown = await bed.when(
      'BgpPeer',
      'tor',
      'two sessions',
      ({ status }) => status?.['nodes'] !== undefined && (status['nodes'] as unknown[]).length === 2,
    )
    expect(shown.status).toMatchObject({
      sessions: { total: 2, established: 1 },
      nodes: [
        { node: 'n2', state: 'active', lastError: 'Connection refused' },
        { node: 'n1', state: 'established', announced: 3 },
      ],
    })
    expect(condition(shown, 'Established')).toMatchObject({
      status: 'False',
      reason: 'SessionsDown',
      message: '1 of 2 sessions are down; n2 is active: Connection refused',
    })
    await bed.when(
      'NodeGroup',
      'edge',
      'two nodes',
      ({ status }) => (status?.['nodes'] as { connected: number } | undefined)?.connected === 2,
    )
  })

  test('cannot be deleted while others reference them', async () => {
    await bed.remove('NodeGroup', 'edge')
    await bed.remove('BgpPeer', 'tor')
    const group = await bed.when('NodeGroup', 'edge', 'held', hasReason('InUse'))
    expect(condition(group)?.message).toMatch(/in use by node n[12]$/)
    const peer = await bed.when('BgpPeer', 'tor', 'held', hasReason('InUse'))
    expect(condition(peer)?.message).toContain('in use by BGP advertisement say')
    await bed.remove('BgpAdvertisement', 'say')
    await bed.gone('BgpPeer', 'tor')
    for (const node of bed.spout.view.list('node')) await bed.spout.admission.deleteNode(node.id)
    await bed.gone('NodeGroup', 'edge')
  })
})

describe('quotas', () => {
  const limits = () => bed.spout.admission.quotaOf(bed.project.id).limits

  test('are set, shown with their use, and restored', async () => {
    await bed.spout.admission.setQuota(bed.project.id, { pools: 77 })
    await bed.create('TenantQuota', 'tenant', { project: 'tenant', limits: { pools: 7, members: 9 } })
    const made = await bed.when('TenantQuota', 'tenant', 'ready', isReady)
    expect(limits()).toMatchObject({ pools: 7, members: 9 })
    expect(made.status).toMatchObject({
      limits: { pools: 7 },
      used: { pools: 0 },
      previous: { pools: 77, members: 5000 },
    })
    await bed.change('TenantQuota', 'tenant', { limits: { pools: 8, members: null } })
    await bed.until('the change', () => limits().pools === 8 && limits().members === 5000)
    await bed.remove('TenantQuota', 'tenant')
    await bed.gone('TenantQuota', 'tenant')
    expect(limits()).toMatchObject({ pools: 77, members: 5000 })
  })

  test('of classes are set by name, shown with their use, and restored', async () => {
    const { admission } = bed.spout
    const [gold, silver] = await Promise.all(
      ['gold', 'silver'].map((name) => admission.createLoadBalancerClass({ name })),
    )
    await admission.setQuota(bed.project.id, {}, { [gold!.id]: 4 })
    const classes = () =>
      Object.fromEntries(admission.classQuotasOf(bed.project.id).map(({ name, limit }) => [name, limit]))

    await bed.create('TenantQuota', 'offers', { project: 'tenant', classes: { gold: 2, bronze: 1 } })
    const waiting = await bed.when('TenantQuota', 'offers', 'waiting', hasReason('ReferenceNotFound'))
    expect(condition(waiting)?.message).toContain('load balancer class bronze not found')
    expect(classes()).toEqual({ gold: 4 })

    await bed.change('TenantQuota', 'offers', { classes: { bronze: null, silver: 0 } })
    const made = await bed.when('TenantQuota', 'offers', 'ready', isReady)
    expect(classes()).toEqual({ gold: 2, silver: 0 })
    const { classes: shown, previousClasses: previous } = made.status as Record<string, readonly object[]>
    expect(shown).toHaveLength(2)
    expect(shown).toEqual(
      expect.arrayContaining([
        { name: 'gold', limit: 2, used: 0 },
        { name: 'silver', limit: 0, used: 0 },
      ]),
    )
    expect(previous).toEqual(expect.arrayContaining([{ id: gold!.id, limit: 4 }, { id: silver!.id }]))

    await bed.change('TenantQuota', 'offers', { classes: { silver: null, gold: 3 } })
    await bed.until('the change', () => classes()['gold'] === 3 && classes()['silver'] === undefined)
    // A class that was deleted in the meantime does not block the deletion of the object.
    await bed.change('TenantQuota', 'offers', { classes: { silver: 7 } })
    await bed.until('silver', () => classes()['silver'] === 7)
    await admission.deleteLoadBalancerClass(silver!.id)
    await bed.remove('TenantQuota', 'offers')
    await bed.gone('TenantQuota', 'offers')
    expect(classes()).toEqual({ gold: 4 })
  })

  test('of one project are one: the second waits until the first goes', async () => {
    await bed.create('TenantQuota', 'a', { project: 'tenant', limits: { pools: 1 } })
    await bed.when('TenantQuota', 'a', 'ready', isReady)
    await bed.create('TenantQuota', 'b', { project: 'tenant', limits: { pools: 2 } })
    const refused = await bed.when('TenantQuota', 'b', 'refused', hasReason('ProjectTaken'))
    expect(condition(refused)?.message).toBe('TenantQuota a sets the limits of project tenant already.')
    expect(limits().pools).toBe(1)
    await bed.remove('TenantQuota', 'a')
    await bed.when('TenantQuota', 'b', 'ready', isReady)
    expect(limits().pools).toBe(2)
  })
})

describe('load balancers', () => {
  test('are read-only objects: they show the state, and foreign writes are undone', async () => {
    const pool = poolNamed('routed')
    const made = await loadBalancer('api', pool?.id ?? '')
    const at = async (what: string, holds: (object: Stated) => boolean) =>
      bed.when('ObservedLoadBalancer', made.id, what, holds)
    await bed.until('the object', () => bed.get('ObservedLoadBalancer', made.id).catch(() => null))
    const pending = await at('a condition', (object) => condition(object, 'Programmed') !== undefined)
    expect(pending.spec).toEqual({ name: 'api' })
    expect(pending.status).toMatchObject({
      addresses: ['10.7.0.1'],
      provisioning: 'pending',
      members: { total: 0, up: 0 },
    })
    expect(condition(pending, 'Programmed')).toMatchObject({ status: 'Unknown', reason: 'WaitingForNode' })
    bed.spout.status.set(made.id, {
      provisioning: 'error',
      reason: 'KernelRefused',
      message: 'No.',
      ownerNodeId: 'somebody',
    })
    const failed = await at('the error', (object) => condition(object, 'Programmed')?.status === 'False')
    expect(failed.status).toMatchObject({ owner: 'somebody' })
    bed.spout.status.set(made.id, { provisioning: 'active', reason: 'Programmed', message: 'Yes.' })
    await at('programmed', (object) => condition(object, 'Programmed')?.status === 'True')
    await bed.change('ObservedLoadBalancer', made.id, { name: 'forged' })
    await at('its name', (object) => (object.spec as { name: string }).name === 'api')
    await bed.api.patch(`${bed.pathOf('ObservedLoadBalancer', made.id)}/status`, { status: { addresses: ['6.6.6.6'] } })
    await at('its address', ({ status }) => JSON.stringify(status?.['addresses']) === '["10.7.0.1"]')
    await bed.remove('ObservedLoadBalancer', made.id)
    await bed.until('the object again', () => bed.get('ObservedLoadBalancer', made.id).catch(() => null))
    await bed.spout.admission.deleteLoadBalancer(made.id, { cascade: true })
    await bed.gone('ObservedLoadBalancer', made.id)
    const theirs = await bed.spout.admission.createProject({ name: 'stranger', description: '' })
    expect(theirs.id).not.toBe(bed.project.id)
  })
})

describe('a restart', () => {
  test('writes nothing to either side', async () => {
    await loadBalancer('stays', poolNamed('routed')?.id ?? '')
    await bed.until(
      'its object',
      async () => (await bed.api.list<Stated>(bed.pathOf('ObservedLoadBalancer'))).items.length === 1,
    )
    await bed.when('AddressPool', 'routed', 'its count', (pool) => {
      const own = bed.spout.view.list('address').filter(({ holderId }) => holderId === pool.status?.['id'])
      const used = own.filter(({ quarantineUntil }) => quarantineUntil === null).length
      return counts(pool)?.['used'] === used && counts(pool)?.['resting'] === own.length - used
    })
    // Counts are read every 300 ms, and a further change is written a second later. Wait until nothing happens any more.
    let [state, since] = ['', performance.now()]
    await bed.until('rest', async () => {
      const now = `${running.writes.length} ${await bed.spout.store.revision()}`
      if (now !== state) [state, since] = [now, performance.now()]
      return performance.now() - since > REST_MS
    })
    await running.stop()
    const revision = await bed.spout.store.revision()
    running = bed.start()
    await bed.until('both sides read', () => running.configuration.ready)
    // A new object passes through the same queues after everything else, so by then everything has been looked at.
    await bed.create('AddressPool', 'marker', { ...one('10.7.0.0/24', '10.7.0.1'), projects: ['nobody'] })
    await bed.when('AddressPool', 'marker', 'looked at', hasReason('ReferenceNotFound'))
    expect(running.writes.filter((write) => !write.includes('/marker'))).toEqual([])
    expect(await bed.spout.store.revision()).toBe(revision)
  })

  test('after an answer that got lost makes no second pool', async () => {
    await bed.remove('AddressPool', 'marker')
    await bed.gone('AddressPool', 'marker')
    await bed.create('AddressPool', 'lost', one('10.6.0.0/24', '10.6.0.1'))
    await bed.when('AddressPool', 'lost', 'ready', isReady)
    await running.stop()
    await bed.api.patch(`${bed.pathOf('AddressPool', 'lost')}/status`, { status: { id: null, conditions: null } })
    running = bed.start()
    await bed.when('AddressPool', 'lost', 'ready', isReady)
    expect(pools().filter(({ name }) => name === 'lost')).toHaveLength(1)
  })

  test('deletes nothing whose object is missing', async () => {
    await running.stop()
    await bed.api.patch(bed.pathOf('AddressPool', 'lost'), { metadata: { finalizers: null } })
    await bed.remove('AddressPool', 'lost')
    await bed.gone('AddressPool', 'lost')
    running = bed.start()
    await bed.until('both sides read', () => running.configuration.ready)
    expect(poolNamed('lost')).toBeDefined()
    // When the object is created again, it takes the pool over.
    await bed.create('AddressPool', 'lost', one('10.6.0.0/24', '10.6.0.1'))
    await bed.when('AddressPool', 'lost', 'ready', isReady)
    expect(pools().filter(({ name }) => name === 'lost')).toHaveLength(1)
  })
})
