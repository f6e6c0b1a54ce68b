import { PROJECT, type ProjectRule } from '@spout/connector'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FINALIZER } from './names.ts'
import { condition, ips } from './testing/controller-bed.fixture.ts'
import { openTenantBed, type TenantBed } from './testing/tenant-bed.fixture.ts'

let bed: TenantBed
let running: Awaited<ReturnType<TenantBed['startTenants']>>
beforeAll(async () => {
  bed = await openTenantBed()
  await bed.namespace('red-1')
  await bed.namespace('blue-1', { team: 'blue' })
  running = await bed.startTenants({ rules: RULES })
})
afterAll(() => bed.close())
afterEach(async () => {
  // Restarts the controllers, since a failed test may have left them stopped or replaced.
  await running.stop()
  running = await bed.startTenants({ rules: RULES })
})

type Service = Awaited<ReturnType<TenantBed['get']>>

const rule = (project: string, more: Partial<ProjectRule>): ProjectRule => ({
  project,
  namespaces: [],
  labels: null,
  isDefault: false,
  ...more,
})
const RULES = [
  rule('red', { namespaces: ['red-1'], labels: { team: 'red' } }),
  rule('blue', { namespaces: ['blue-too'], labels: { team: 'blue' } }),
]
const hasIp = (one: Service) => ips(one).length > 0
const is = (reason: string) => (one: Service) => condition(one)?.reason === reason
const finalized = ({ metadata }: Service) => metadata.finalizers?.includes(FINALIZER) ?? false
const projectOf = ({ metadata }: Service) => metadata.annotations?.[PROJECT]
/** The load balancers of both projects that name a Service. */
const heldBy = ({ metadata }: Service) =>
  ['red', 'blue'].flatMap((name) =>
    bed
      .documentsOf(name)
      .filter(({ annotations }) => annotations[`kubernetes.service.${metadata.uid}`] !== undefined)
      .map((document) => ({ name, document })),
  )
const projectsOf = (one: Service) => heldBy(one).map(({ name }) => name)
const idle = () =>
  bed.until('empty queues', () => running.controllers.ready && running.controllers.counters.queued === 0)
const confirmed = async (name: string, namespace: string, reason: string) => {
  for (const { document } of heldBy(await bed.get(name, namespace))) bed.confirm(document)
  return bed.when(name, reason, is(reason), namespace)
}
const on = (port: number) => ({ ports: [{ name: 'http', port }] })

describe('namespaces of several projects, against a real API server', () => {
  test('a Service belongs to the project of its namespace, by name or by label', async () => {
    const red = await bed.create('web', {}, {}, 'red-1')
    const blue = await bed.create('web', {}, {}, 'blue-1')
    const [inRed, inBlue] = await Promise.all([
      bed.when('web', 'an address', hasIp, 'red-1'),
      bed.when('web', 'an address', hasIp, 'blue-1'),
    ])
    expect([projectsOf(red), projectsOf(blue)]).toEqual([['red'], ['blue']])
    expect([projectOf(inRed), projectOf(inBlue)]).toEqual([bed.ids['red'], bed.ids['blue']])
    await confirmed('web', 'blue-1', 'Programmed')
    // Each by the network of its own project.
    const pods = (address: string) => ({
      addressType: 'IPv4' as const,
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 8080 }],
    })
    await bed.slice('web', pods('10.128.0.1'), 'web-1', 'red-1')
    await bed.slice('web', pods('10.128.0.2'), 'web-1', 'blue-1')
    await bed.until('a member each', () =>
      [red, blue].every((one) => heldBy(one)[0]?.document.pools[0]?.members.length === 1),
    )
    expect(new Set([red, blue].map((one) => heldBy(one)[0]?.document.networkId)).size).toBe(2)
    await bed.remove('web', 'blue-1')
    await bed.gone('web', 'blue-1')
    expect([projectsOf(red), projectsOf(blue)]).toEqual([['red'], []])
    await bed.remove('web', 'red-1')
    await bed.gone('web', 'red-1')
  })

  test('a restart writes nothing to either side', async () => {
    for (const namespace of ['red-1', 'blue-1']) {
      await bed.create('kept', {}, {}, namespace)
      await bed.when('kept', 'an address', hasIp, namespace)
    }
    await idle()
    await running.stop()
    const before = ['red', 'blue'].map((name) => bed.documentsOf(name))
    running = await bed.startTenants({ rules: RULES })
    await idle()
    expect(running.writes).toEqual([])
    expect(['red', 'blue'].map((name) => bed.documentsOf(name))).toEqual(before)
  })

  test('a namespace without a project: the Service says so and is untouched until the namespace has one', async () => {
    await bed.namespace('nobodys')
    await bed.create('web', {}, {}, 'nobodys')
    const refused = await bed.when('web', 'a reason', is('NoProject'), 'nobodys')
    expect([finalized(refused), ips(refused), condition(refused)?.status]).toEqual([false, [], 'False'])
    expect(condition(refused)?.message).toContain('"nobodys"')
    await bed.until('an event', () => running.events.some(({ reason }) => reason === 'NoProject'))
    // Its status is corrected, as that of any other Service.
    await bed.change('web/status', { status: { loadBalancer: { ingress: [{ ip: '198.51.100.10' }] } } }, 'nobodys')
    await bed.when('web', 'no address', (one) => !hasIp(one), 'nobodys')
    await bed.namespace('nobodys', { team: 'blue' })
    const taken = await bed.when('web', 'an address', hasIp, 'nobodys')
    expect(projectsOf(taken)).toEqual(['blue'])
    await bed.namespace('nobodys', { team: null })
    await bed.create('gone', {}, {}, 'nobodys')
    await bed.when('gone', 'a reason', is('NoProject'), 'nobodys')
    // A finalizer that an earlier connector without rules may have set does not block the deletion.
    await bed.change('gone', { metadata: { finalizers: [FINALIZER] } }, 'nobodys')
    await bed.remove('gone', 'nobodys')
    await bed.gone('gone', 'nobodys')
  })
})

describe('38, S8: one project takes nothing of another', () => {
  test('by pool, by address, by sharing key, by the address of a status', async () => {
    await bed.create('own', { loadBalancerIP: '203.0.113.131' }, {}, 'red-1')
    await bed.create('public', {}, { 'spout.dev/address-pool': 'public' }, 'red-1')
    await bed.when('own', 'an address', hasIp, 'red-1')
    const [shared] = ips(await bed.when('public', 'an address', hasIp, 'red-1'))
    const asked: readonly (readonly [string, object, Record<string, string>, string])[] = [
      ['by-pool', {}, { 'spout.dev/address-pool': 'red' }, 'PoolNotFound'],
      ['by-address', { loadBalancerIP: '203.0.113.131' }, {}, 'AddressNotInPool'],
      ['by-free-address', { loadBalancerIP: '203.0.113.132' }, {}, 'AddressNotInPool'],
      ['by-public-address', { loadBalancerIP: shared }, {}, 'AddressTaken'],
      ['by-annotation', {}, { 'metallb.io/loadBalancerIPs': shared ?? '' }, 'AddressTaken'],
    ]
    for (const [name, spec, annotations] of asked) await bed.create(name, spec, annotations, 'blue-1')
    for (const [name, , , reason] of asked) {
      const refused = await bed.when(name, reason, is(reason), 'blue-1')
      expect([name, ips(refused)]).toEqual([name, []])
      expect(condition(refused)?.message).not.toMatch(/red-1|\bown\b/)
    }
    const thief = await bed.create('by-status', {}, {}, 'blue-1')
    const [own] = ips(await bed.when('by-status', 'an address', hasIp, 'blue-1'))
    await bed.change('by-status/status', { status: { loadBalancer: { ingress: [{ ip: shared }] } } }, 'blue-1')
    await bed.when('by-status', 'its own address', (one) => ips(one)[0] === own, 'blue-1')
    expect(heldBy(thief).map(({ name, document }) => [name, document.vips[0]?.address])).toEqual([['blue', own]])
    for (const [name] of [...asked, ['by-status'] as const]) await bed.remove(name, 'blue-1')
  })

  test('sharing across projects is refused to both sides, with a reason', async () => {
    const key = (other: string) => ({ 'spout.dev/allow-shared-ip': 'k', 'spout.dev/share-with-namespaces': other })
    const one = await bed.create('share', on(80), key('blue-1'), 'red-1')
    const other = await bed.create('share', on(81), key('red-1'), 'blue-1')
    const refused = [
      await bed.when('share', 'a refusal', is('SharingAcrossProjects'), 'red-1'),
      await bed.when('share', 'a refusal', is('SharingAcrossProjects'), 'blue-1'),
    ]
    expect(refused.map((service) => [ips(service), finalized(service)])).toEqual([
      [[], false],
      [[], false],
    ])
    expect([heldBy(one), heldBy(other)]).toEqual([[], []])
    // A sharing key alone only applies within a namespace, and so within a project.
    await bed.change('share', { metadata: { annotations: { 'spout.dev/share-with-namespaces': null } } }, 'red-1')
    await bed.change('share', { metadata: { annotations: { 'spout.dev/share-with-namespaces': null } } }, 'blue-1')
    const shown = await Promise.all(
      ['red-1', 'blue-1'].map((namespace) => bed.when('share', 'an address', hasIp, namespace)),
    )
    expect(ips(shown[0]!)[0]).not.toBe(ips(shown[1]!)[0])
    for (const namespace of ['red-1', 'blue-1']) await bed.remove('share', namespace)
  })

  test('namespaces of one project share; when one of them moves, what is there stays and says why', async () => {
    await bed.namespace('red-2', { team: 'red' })
    const key = (other: string) => ({ 'spout.dev/allow-shared-ip': 'k2', 'spout.dev/share-with-namespaces': other })
    await bed.create('pair', on(80), key('red-2'), 'red-1')
    const [address] = ips(await bed.when('pair', 'an address', hasIp, 'red-1'))
    const two = await bed.create('pair', on(81), key('red-1'), 'red-2')
    await bed.when('pair', 'the same address', (one) => ips(one)[0] === address, 'red-2')
    await bed.namespace('red-2', { team: 'blue' })
    const barred = await bed.when('pair', 'a refusal', is('SharingAcrossProjects'), 'red-1')
    expect(ips(barred)).toEqual([address])
    expect(heldBy(two).map(({ name, document }) => [name, document.listeners.map(({ port }) => port).sort()])).toEqual([
      ['red', [80, 81]],
    ])
    await bed.remove('pair', 'red-2')
    await bed.gone('pair', 'red-2')
    await bed.remove('pair', 'red-1')
    await bed.gone('pair', 'red-1')
  })

  test("a Service that names another project, and a load balancer that names another project's Service", async () => {
    const claim = { [PROJECT]: bed.ids['red'] ?? '' }
    const one = await bed.create('claims', {}, claim, 'blue-1')
    const owned = await bed.when(
      'claims',
      'its own project',
      (now) => projectOf(now) === bed.ids['blue'] && hasIp(now),
      'blue-1',
    )
    expect(projectsOf(owned)).toEqual(['blue'])
    const [address] = ips(await bed.when('claims', 'an address', hasIp, 'blue-1'))
    await bed.change('claims', { metadata: { annotations: { [PROJECT]: 'nobody' } } }, 'blue-1')
    await bed.when('claims', 'its own project', (now) => projectOf(now) === bed.ids['blue'], 'blue-1')
    const forged = await bed.nativeOf('red').create(
      '5f0f3ac6-6f57-5d7c-9d6e-3a2b1c0d9e8f',
      {
        name: 'forged',
        annotations: {
          'kubernetes.cluster': 'test-cluster',
          [`kubernetes.service.${one.metadata.uid}`]: 'blue-1/claims',
        },
        pools: [],
        listeners: [],
      },
      { poolId: bed.pools.public.id, address: null },
    )
    await idle()
    expect(ips(await bed.get('claims', 'blue-1'))).toEqual([address])
    // The forged load balancer names no Service of its project, so it is deleted as a leftover.
    await bed.until('it to be gone', () => bed.documentsOf('red').every(({ id }) => id !== forged.document.id))
    expect(ips(await bed.get('claims', 'blue-1'))).toEqual([address])
    await bed.remove('claims', 'blue-1')
    await bed.gone('claims', 'blue-1')
  })
})

describe("a namespace that becomes another project's", () => {
  test('Services with an address keep it and say so; new ones belong to the other project', async () => {
    await bed.namespace('moves', { team: 'red' })
    const one = await bed.create('old', {}, {}, 'moves')
    const [address] = ips(await bed.when('old', 'an address', hasIp, 'moves'))
    await confirmed('old', 'moves', 'Programmed')
    await bed.namespace('moves', { team: 'blue' })
    const moved = await bed.when('old', 'a notice', is('NamespaceMoved'), 'moves')
    expect([ips(moved), condition(moved)?.status]).toEqual([[address], 'True'])
    expect(condition(moved)?.message).toContain('of another project')
    // It is served as before: its endpoints are followed, also after a restart.
    await running.stop()
    running = await bed.startTenants({ rules: RULES })
    const pods = [{ addresses: ['10.128.0.7'], conditions: { ready: true } }]
    const body = { addressType: 'IPv4' as const, endpoints: pods, ports: [{ name: 'http', port: 8080 }] }
    await bed.slice('old', body, 'old-1', 'moves')
    await bed.until('a member', () => heldBy(one)[0]?.document.pools[0]?.members.length === 1)
    expect([projectsOf(one), ips(await bed.get('old', 'moves'))]).toEqual([['red'], [address]])
    const fresh = await bed.create('new', {}, {}, 'moves')
    await bed.when('new', 'an address', hasIp, 'moves')
    expect(projectsOf(fresh)).toEqual(['blue'])
    await bed.namespace('moves', { team: null })
    const unruled = await bed.when(
      'old',
      'a notice',
      (now) => /of no project/.test(condition(now)?.message ?? ''),
      'moves',
    )
    expect(ips(unruled)).toEqual([address])
    await bed.namespace('moves', { team: 'blue' })
    // A Service that is created again belongs to the other project. So does one whose type changes away and back.
    await bed.remove('old', 'moves')
    await bed.gone('old', 'moves')
    const again = await bed.create('old', {}, {}, 'moves')
    await bed.when('old', 'an address', hasIp, 'moves')
    expect([projectsOf(one), projectsOf(again)]).toEqual([[], ['blue']])
    await bed.remove('new', 'moves')
    await bed.remove('old', 'moves')
  })

  test('a change of type and back moves it', async () => {
    await bed.namespace('retyped', { team: 'red' })
    const one = await bed.create('web', {}, {}, 'retyped')
    await bed.when('web', 'an address', hasIp, 'retyped')
    await bed.namespace('retyped', { team: 'blue' })
    const away = { type: 'ClusterIP', ports: [{ name: 'http', port: 80, nodePort: null }] }
    await bed.change('web', { spec: away }, 'retyped')
    const released = await bed.when('web', 'no trace', (now) => !finalized(now), 'retyped')
    expect([projectsOf(one), projectOf(released)]).toEqual([[], undefined])
    await bed.change('web', { spec: { type: 'LoadBalancer' } }, 'retyped')
    await bed.when('web', 'an address', hasIp, 'retyped')
    expect(projectsOf(one)).toEqual(['blue'])
    await bed.remove('web', 'retyped')
  })

  test('while it changes again and again, no Service belongs to two projects', { timeout: 60_000 }, async () => {
    await bed.namespace('flaps', { team: 'red' })
    const names = Array.from({ length: 8 }, (_, at) => `s${at}`)
    for (const [at, name] of names.entries()) {
      await bed.create(name, {}, {}, 'flaps')
      await bed.namespace('flaps', { team: at % 2 === 0 ? 'blue' : 'red' })
    }
    for (const name of names) {
      const one = await bed.when(name, 'an address', hasIp, 'flaps')
      await bed.until(`${name} to be of one project`, async () => {
        const now = await bed.get(name, 'flaps')
        const [holder, ...others] = heldBy(one)
        return (
          others.length === 0 &&
          holder !== undefined &&
          projectOf(now) === bed.ids[holder.name] &&
          ips(now)[0] === holder.document.vips[0]?.address
        )
      })
    }
    for (const name of names) await bed.remove(name, 'flaps')
    for (const name of names) await bed.gone(name, 'flaps')
  })
})

describe('projects that come and go', () => {
  test('Services from before there were rules keep their addresses', async () => {
    await running.stop()
    const alone = await bed.start({ defaultPools: [] })
    for (const [name, namespace] of [
      ['before', 'red-1'],
      ['before', 'blue-1'],
    ] as const)
      await bed.create(name, {}, {}, namespace)
    const shown = await Promise.all(
      ['red-1', 'blue-1'].map((namespace) => bed.when('before', 'an address', hasIp, namespace)),
    )
    expect(shown.map(projectOf)).toEqual([undefined, undefined])
    await alone.stop()
    running = await bed.startTenants({ rules: RULES })
    const [red, blue] = await Promise.all(
      ['red-1', 'blue-1'].map((namespace) =>
        bed.when('before', 'its project', (one) => projectOf(one) === bed.ids['red'], namespace),
      ),
    )
    expect([ips(red!), ips(blue!)]).toEqual(shown.map(ips))
    await confirmed('before', 'blue-1', 'NamespaceMoved')
    await confirmed('before', 'red-1', 'Programmed')
    for (const namespace of ['red-1', 'blue-1']) {
      await bed.remove('before', namespace)
      await bed.gone('before', namespace)
    }
  })

  test('a project that lost its rule: its Services stay as they are and say so, also when they are deleted', async () => {
    const one = await bed.create('orphan', {}, {}, 'red-1')
    const [address] = ips(await bed.when('orphan', 'an address', hasIp, 'red-1'))
    await running.stop()
    running = await bed.startTenants({ rules: [rule('blue', { isDefault: true })] })
    const left = await bed.when('orphan', 'a reason', is('ProjectNotConfigured'), 'red-1')
    expect([ips(left), projectsOf(left), finalized(left)]).toEqual([[address], ['red'], true])
    await bed.remove('orphan', 'red-1')
    await bed.create('after', {}, {}, 'blue-1')
    await bed.when('after', 'an address', hasIp, 'blue-1')
    expect([finalized(await bed.get('orphan', 'red-1')), projectsOf(one)]).toEqual([true, ['red']])
    await running.stop()
    running = await bed.startTenants({ rules: RULES })
    await bed.gone('orphan', 'red-1')
    expect(projectsOf(one)).toEqual([])
  })

  test('a project for which the control plane does not answer delays no other, and loses nothing', async () => {
    const one = await bed.create('waits', {}, {}, 'red-1')
    const before = await bed.when('waits', 'an address', hasIp, 'red-1')
    await idle()
    await running.stop()
    running = await bed.startTenants({ rules: RULES, without: ['red'] })
    await bed.create('works', {}, {}, 'blue-1')
    await bed.when('works', 'an address', hasIp, 'blue-1')
    await bed.create('waits-too', {}, {}, 'red-1')
    await bed.change('waits', { spec: on(81) }, 'red-1')
    await bed.create('works-too', {}, {}, 'blue-1')
    await bed.when('works-too', 'an address', hasIp, 'blue-1')
    const now = await bed.get('waits', 'red-1')
    expect([ips(now), condition(now)?.reason]).toEqual([ips(before), condition(before)?.reason])
    expect(running.controllers.ready).toBe(false)
    await running.stop()
    running = await bed.startTenants({ rules: RULES })
    await bed.until('the changed port', () => heldBy(one)[0]?.document.listeners[0]?.port === 81)
    await bed.when('waits-too', 'an address', hasIp, 'red-1')
    expect(ips(await bed.get('waits', 'red-1'))).toEqual(ips(before))
  })
})
