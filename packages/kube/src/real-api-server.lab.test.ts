import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { silentLogger } from '@spout/runtime'
import { KubernetesCluster, Lab, LONGEST_BUILD_MS, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { probe, sharedPool } from './crd/sample-kinds.fixture.ts'
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  customResourceDefinition,
  EVENTS,
  EventRecorder,
  isConflict,
  KubeClient,
  KubeError,
  type KubeObject,
  kubeconfigAccess,
  LEASES,
  LeaderElector,
  NODES,
  objectKey,
  Reflector,
  type Resource,
  SERVICES,
  type Service,
  Transport,
} from './index.ts'

let lab: Lab
let cluster: KubernetesCluster
let transport: Transport
let client: KubeClient

const service = (name: string, port = 80): Service => ({
  metadata: { namespace: 'default', name },
  spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port, protocol: 'TCP' }] },
})
const apply = (name: string, port = 80) => client.apply(SERVICES, service(name, port), { fieldManager: 'test' })
const remove = (name: string) => client.delete(SERVICES, { namespace: 'default', name })

beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  transport = new Transport({ access: await kubeconfigAccess(cluster.kubeconfigFile), maxRetryMs: 500 })
  client = new KubeClient(transport)
}, LONGEST_BUILD_MS)
afterAll(async () => {
  transport?.close()
  await lab?.destroy()
}, 60_000)

describe('reflector', () => {
  let reflector: Reflector<Service, number>
  const told = new Set<string>()
  const key = (name: string) => objectKey({ namespace: 'default', name })
  const truth = async () =>
    (await cluster.api.list<Service & { metadata: { uid: string } }>('/api/v1/services')).items
      .map(({ metadata, spec }) => [objectKey(metadata), spec.ports?.[0]?.port])
      .sort()
  const untilEqual = () =>
    waitFor(async () => JSON.stringify([...reflector.list()].sort()) === JSON.stringify(await truth()), {
      what: 'the cache to equal the truth',
      timeoutMs: 60_000,
      everyMs: 100,
    })
  const restart = async () => {
    await cluster.controlPlane.stopApiServer()
    await cluster.controlPlane.startApiServer()
  }

  beforeAll(async () => {
    for (let index = 0; index < 12; index++) await apply(`s${index}`)
    reflector = new Reflector<Service, number>({
      transport,
      log: silentLogger(),
      resource: SERVICES,
      trim: ({ spec }) => spec.ports?.[0]?.port ?? 0,
      pageSize: 5,
      maxRetryMs: 500,
    })
    reflector.onChange((changed) => told.add(changed))
    reflector.start()
    await reflector.synced
  })
  afterAll(() => reflector?.close())

  it('lists in pages and follows', async () => {
    expect(reflector.size).toBe(13)
    expect(reflector.counters.pages).toBe(3)
    await apply('s0', 81)
    await remove('s1')
    await untilEqual()
    expect(reflector.get(key('s0'))).toBe(81)
    expect(reflector.counters.lists).toBe(1)
  })

  it('survives a killed API server: nothing deleted, at most one list', async () => {
    const { lists } = reflector.counters
    told.clear()
    await restart()
    await apply('after-restart')
    await untilEqual()
    expect([...told]).toEqual([key('after-restart')])
    const read = reflector.counters.lists - lists
    expect(read).toBeLessThanOrEqual(1)
    recordFault({
      fault: 'kube: API server killed and started',
      outcome: 'the watch goes on, nothing counted as deleted',
      figure: `${read} full lists`,
    })
  })

  it('survives a compaction during a break: a real 410, one list, only the difference', async () => {
    const before = reflector.counters
    told.clear()
    // The history goes on without a Service in it, and is forgotten up to there.
    await cluster.createNamespace('elsewhere')
    await cluster.controlPlane.compact()
    await restart()
    await apply('s2', 82)
    await remove('s3')
    await untilEqual()
    expect([...told].sort()).toEqual([key('s2'), key('s3')])
    expect(reflector.counters.listsByCause.gone).toBeGreaterThan(before.listsByCause.gone)
    expect(reflector.deletionGuard).toBeNull()
    recordFault({
      fault: 'kube: history compacted behind a watch (410)',
      outcome: 'listed again in pages, only the difference reported',
      figure: `${reflector.counters.lists - before.lists} full lists, ${told.size} keys told of 2 changed`,
    })
  }, 120_000)

  it('deletes nothing after a restore from a backup until an operator confirms', async () => {
    const backup = await cluster.controlPlane.backup()
    await apply('since-backup')
    await untilEqual()
    told.clear()
    await cluster.controlPlane.restore(backup)
    await waitFor(() => reflector.deletionGuard?.reason === 'history', {
      what: 'the deletion guard',
      timeoutMs: 60_000,
    })
    expect(reflector.get(key('since-backup'))).toBe(80)
    expect(reflector.isHeld(key('since-backup'))).toBe(true)
    expect([...told]).toEqual([])
    recordFault({
      fault: 'kube: API server restored from a backup',
      outcome: 'missing objects are held, and an error logged, until an operator confirms',
      figure: `0 deleted, ${reflector.deletionGuard?.heldKeys.size} held`,
    })
    await apply('new-history')
    await waitFor(() => told.has(key('new-history')), { what: 'the event of the new history' })
    reflector.confirm()
    await untilEqual()
    expect(reflector.get(key('since-backup'))).toBeUndefined()
  }, 120_000)
})

describe('writes', () => {
  it('applies a status, keeps finalizers, and refuses stale versions', async () => {
    const made = (await apply('written')) as Service
    const name = { namespace: 'default', name: 'written' }
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7', ipMode: 'VIP' as const }] } }
    const applied = { metadata: name, status }
    await client.apply(SERVICES, applied, { fieldManager: 'spout', subresource: 'status' })
    expect((await client.get(SERVICES, name))?.status?.loadBalancer).toEqual(status.loadBalancer)
    const stale = await client.addFinalizer(SERVICES, made.metadata, 'spout.dev/load-balancer').catch(isConflict)
    expect(stale).toBe(true)
    const fresh = (await client.get(SERVICES, name)) as Service
    const held = (await client.addFinalizer(SERVICES, fresh.metadata, 'spout.dev/load-balancer')) as Service
    expect(await client.delete(SERVICES, name, { uid: made.metadata.uid })).toBe('deleted')
    const going = (await client.get(SERVICES, name)) as Service
    expect(going.metadata).toMatchObject({ uid: held.metadata.uid, deletionTimestamp: expect.any(String) })
    await client.removeFinalizer(SERVICES, going.metadata, 'spout.dev/load-balancer')
    expect(await client.get(SERVICES, name)).toBeNull()
    expect(await client.delete(SERVICES, name)).toBe('gone')
  })

  it('says which field was refused', async () => {
    const error = await client.create(SERVICES, service('bad', 70_000)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KubeError)
    expect(error).toMatchObject({ status: 422, reason: 'Invalid', causes: [{ field: 'spec.ports[0].port' }, {}] })
  })

  it('writes events, single and in series, also about objects without a namespace', async () => {
    const recorder = new EventRecorder({
      client,
      reportingController: 'spout.dev/connector',
      reportingInstance: 'connector-1',
      log: silentLogger(),
      seriesWriteMs: 0,
    })
    const draft = { type: 'Warning', reason: 'NoAddress', action: 'Allocate', note: 'none free' } as const
    const regarding = { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'web', uid: 'u1' }
    recorder.record({ ...draft, regarding })
    await recorder.flush()
    recorder.record({ ...draft, regarding })
    recorder.record({ ...draft, regarding: { apiVersion: 'v1', kind: NODES.kind, name: 'worker', uid: 'u2' } })
    await recorder.flush()
    await recorder.close()
    const { items } = await cluster.api.list<KubeObject & { metadata: { uid: string } }>(
      `/apis/${EVENTS.apiVersion}/namespaces/default/events`,
    )
    expect(recorder.counts).toMatchObject({ failed: 0 })
    expect(items).toContainEqual(
      expect.objectContaining({ reason: 'NoAddress', series: expect.objectContaining({ count: 2 }) }),
    )
  })
})

describe('leader election', () => {
  const elect = (identity: string, log: string[]) =>
    new LeaderElector({
      client,
      namespace: 'default',
      name: 'connector',
      identity,
      log: silentLogger(),
      leaseSeconds: 3,
      renewDeadlineMs: 2000,
      retryMs: 300,
      onGained: (token) => log.push(`${identity} ${token}`),
      onLost: (reason) => log.push(`${identity} ${reason}`),
    })

  it('hands the lease on with a higher token', async () => {
    const log: string[] = []
    const [one, two] = [elect('one', log), elect('two', log)]
    one.start()
    await waitFor(() => one.token, { what: 'a leader' })
    two.start()
    await one.stop()
    await waitFor(() => two.token, { what: 'the next leader' })
    await two.stop()
    expect(log).toEqual(['one 1', 'one released', 'two 2', 'two released'])
    const lease = await client.get(LEASES, { namespace: 'default', name: 'connector' })
    expect(lease?.spec).toMatchObject({ leaseTransitions: 2 })
    expect(lease?.spec?.holderIdentity ?? '').toBe('')
  })
})

describe('a leader that is killed', () => {
  const SHORT = { leaseSeconds: 1, renewDeadlineMs: 700, retryMs: 200 }
  /** A process of its own that gets the lease and says so. */
  const PROGRAM = `
    import { KubeClient, kubeconfigAccess, LeaderElector, Transport } from '@spout/kube'
    import { silentLogger } from '@spout/runtime'
    const [file, options] = process.argv.slice(1)
    const client = new KubeClient(new Transport({ access: await kubeconfigAccess(file) }))
    const onGained = (token) => process.stdout.write(String(token))
    new LeaderElector({ client, ...JSON.parse(options), log: silentLogger(), onGained, onLost: () => {} }).start()`

  it('is replaced by another with a higher token', async () => {
    const options = { namespace: 'default', name: 'killed', ...SHORT }
    const argv = ['--input-type=module', '-e', PROGRAM, '--', cluster.kubeconfigFile]
    const child = spawn(process.execPath, [...argv, JSON.stringify({ ...options, identity: 'first' })], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let gainedMs = 0
    const next = new LeaderElector({
      client,
      ...options,
      identity: 'next',
      log: silentLogger(),
      onGained: () => {
        gainedMs = performance.now()
      },
      onLost: () => {},
    })
    try {
      const [token] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) })) as [Buffer]
      expect(token.toString()).toBe('1')
      next.start()
      const before = await client.get(LEASES, options)
      await waitFor(async () => (await client.get(LEASES, options))?.spec?.renewTime !== before?.spec?.renewTime, {
        what: 'a renewal',
      })
      expect(next.token).toBeNull()
      const killedMs = performance.now()
      child.kill('SIGKILL')
      await waitFor(() => next.token, { what: 'the next leader' })
      expect(next.token).toBe(2)
      recordFault({
        fault: 'kube: leader killed, lease of 1 s',
        outcome: 'the next one leads with a higher token',
        figure: `${Math.round(gainedMs - killedMs)} ms`,
      })
    } finally {
      child.kill('SIGKILL')
      await next.stop()
    }
  })
})

describe('definitions from schemas', () => {
  const define = async (draft: typeof probe) => {
    const definition = customResourceDefinition(draft)
    await client.apply(CUSTOM_RESOURCE_DEFINITIONS, definition, { fieldManager: 'test' })
    const conditions = await waitFor(
      async () => {
        const found = (await client.get(
          CUSTOM_RESOURCE_DEFINITIONS,
          definition.metadata,
        )) as CustomResourceDefinition & {
          readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
        }
        const all = found.status?.conditions ?? []
        return all.some(({ type, status }) => type === 'Established' && status === 'True') && all
      },
      { what: `${draft.kind} to be established` },
    )
    expect(conditions.filter(({ type }) => type === 'NonStructuralSchema')).toEqual([])
    const { group, kind, plural, scope, versions } = draft
    const apiVersion = `${group}/${versions[0].name}`
    return { apiVersion, kind, plural, namespaced: scope === 'Namespaced' } as Resource<KubeObject & { spec: object }>
  }
  const untilServed = (resource: Resource) =>
    waitFor(() => client.get(resource, { namespace: 'default', name: 'none' }).then(() => true), { what: 'the path' })
  const refusal = (answer: Promise<unknown>) =>
    answer.then(
      () => 'taken',
      (error: Error) => error.message,
    )

  it('are taken, fill in defaults, and refuse what the schema and the rules refuse', async () => {
    const pools = await define(sharedPool)
    await untilServed(pools)
    const pool = (spec: object) => ({ metadata: { name: 'public' }, spec })
    const made = await client.create(
      pools,
      pool({ ranges: [{ cidr: '192.0.2.0/24' }, { cidr: '2001:db8::/64' }], locked: true }),
    )
    expect(made.spec).toMatchObject({ assignment: 'lowest', quarantineSeconds: 300 })
    expect(await refusal(client.create(pools, pool({ ranges: [{ cidr: '192.0.2/24' }] })))).toContain(
      'spec.ranges[0].cidr',
    )
    expect(await refusal(client.create(pools, pool({ ranges: [{ cidr: '192.0.2.0/24', gateway: 'x' }] })))).toContain(
      'spec.ranges[0].gateway',
    )
    expect(await refusal(client.create(pools, pool({ ranges: [] })))).toContain('spec.ranges')
    const fewer = { ranges: [{ cidr: '192.0.2.0/24' }] }
    expect(await refusal(client.mergePatch(pools, { name: 'public' }, { spec: fewer }))).toContain(
      'a locked pool keeps its ranges',
    )
  })

  it('tell the variants of a union apart', async () => {
    const probes = await define(probe)
    await untilServed(probes)
    const make = (name: string, check: object, port: unknown = 80) =>
      client.create(probes, { metadata: { namespace: 'default', name }, spec: { port, check } })
    expect((await make('http', { type: 'http', path: '/ready' }, 'web')).spec).toMatchObject({
      check: { timeoutMs: 1000 },
    })
    expect((await make('tcp', { type: 'tcp', timeoutMs: 5 })).spec).toMatchObject({ port: 80 })
    expect(await refusal(make('bad1', { type: 'http' }))).toContain('spec.check')
    expect(await refusal(make('bad2', { type: 'tcp', path: '/' }))).toContain('spec.check')
    expect(await refusal(make('bad3', { type: 'icmp' }))).toContain('spec.check.type')
  })
})
