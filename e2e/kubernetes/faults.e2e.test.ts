import { setTimeout as pause } from 'node:timers/promises'
import {
  byLength,
  KubernetesApiError,
  msSince,
  nodesInSync,
  powerOff,
  powerOn,
  recordFault,
  startControlPlane,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bothTakePart, shownVip } from '../announcing-group.ts'
import { connectorLog, connectorMetric, startConnector, stopConnector } from './connectors.ts'
import { restartControllers } from './controllers.ts'
import { HOSTILE_TEXTS, hostileServices, IMPOSSIBLE } from './hostile-services.ts'
import { type ServiceLab, startServiceLab } from './service-lab.ts'
import { type BalancedService, serviceBody, servicesIn } from './services.ts'
import {
  balancedServices,
  documents,
  memberDies,
  noneFailed,
  type OwnedService,
  programmed,
  unnoticed,
  untilOver,
} from './shop.ts'
import { answeringIn, revive, startWorkload } from './workloads.ts'

const WHOLE_OUTAGE = 'ten minutes'
const OUTAGE_MS = byLength(12_000, 600_000)
const ALL_KILLS = 50
const KILLS = byLength(12, ALL_KILLS)
/** A connector takes about half a second to start: some are killed while starting, some at work. */
const LONGEST_LIFE_MS = 1000
const QUICK = { 'spout.dev/monitor-delay': '200ms', 'spout.dev/monitor-retries': '2' }
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
const DEFAULT = servicesIn('default')

vi.setConfig({ testTimeout: OUTAGE_MS + 280_000 })

let lab: ServiceLab
let address: string
/** A backup of the database with pods and their Deployments, but without Services. */
let withoutServices: string

beforeAll(async () => {
  lab = await startServiceLab()
  await startWorkload(lab, { name: 'web', replicas: 3 })
  withoutServices = await lab.cluster.controlPlane.backup()
  await lab.expose('shop', 'web', {}, QUICK)
  address = await lab.answering('shop')
}, 900_000)
afterAll(() => lab?.destroy())

const services = () => balancedServices(lab)
const whileAsking = (what: () => Promise<void>) => unnoticed(lab, address, what)

describe('an API server with the past of a backup', () => {
  const created = ['one', 'two', 'three'] as const
  const held = () => connectorMetric(lab, 'spout_connector_held_objects', { labels: '{kind="Service"}' })

  it('deletes nothing without confirmation, says so, and goes on once the Services are there again', async () => {
    const { controlPlane, api } = lab.cluster
    for (const name of created) await lab.expose(name, 'web')
    for (const name of created) await lab.answering(name)
    const before = await documents(lab)
    const shown = JSON.stringify((await services()).map((one) => [one.metadata.uid, lab.addressOf(one)]))
    // What a cluster writes in a while: the backup is older than anything the connector has seen.
    await api.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'history' } })
    for (let version = 0; version < 200; version++)
      await api.patch('/api/v1/namespaces/default/configmaps/history', { data: { version: String(version) } })
    const latest = await controlPlane.backup()
    let heldAfter = ''
    const met = await whileAsking(async () => {
      await controlPlane.restore(withoutServices)
      const began = performance.now()
      expect(await services()).toEqual([])
      await waitFor(async () => (await held()) === 4, { what: 'the connector to hold four Services' })
      heldAfter = msSince(began)
      expect(connectorLog(lab)).toMatch(
        /"event":"deletions-held".*"kind":"Service"|"kind":"Service".*"event":"deletions-held"/,
      )
      expect(await documents(lab)).toEqual(before)

      // A connector that starts now has seen nothing: it asks the control plane what existed.
      await stopConnector(lab, 'connector', 'SIGKILL')
      await startConnector(lab)
      await waitFor(async () => (await held()) === 4, { what: 'the new connector to hold four Services' })
      await waitFor(async () => (await connectorMetric(lab, 'spout_connector_load_balancers')) === 4, {
        what: 'the new connector to know the load balancers',
      })
      expect(await documents(lab)).toEqual(before)

      await controlPlane.restore(latest)
      await restartControllers(lab)
      await waitFor(async () => (await held()) === 0, { what: 'nothing to be held back', timeoutMs: 60_000 })
      expect(await documents(lab)).toEqual(before)
    })
    expect(JSON.stringify((await services()).map((one) => [one.metadata.uid, lab.addressOf(one)]))).toBe(shown)
    recordFault({
      fault: 'kubernetes: restored from a backup without any Service',
      outcome: 'load balancers stay, the connector holds them and says so (log, metric)',
      figure: `0 of 4 load balancers deleted, alarm after ${heldAfter}, ${noneFailed(met)}`,
    })
    // A requested deletion still counts as one.
    await api.delete(`${DEFAULT}/three`)
    await waitFor(async () => (await lab.loadBalancers()).length === 3, { what: 'a plain deletion to be followed' })
  })
})

describe('an API server that is away', () => {
  it('stops no traffic, failover or health check, and nothing is deleted when it is back (point 36)', async () => {
    const { controlPlane } = lab.cluster
    const pods = await lab.cluster.readyPods(3, 'app=web')
    await bothTakePart(lab.system)
    const before = await documents(lab)
    const began = performance.now()
    await controlPlane.stopApiServer()
    const shop = (await lab.loadBalancers()).find(({ vips }) => vips[0]?.address === address)!
    const owner = await waitFor(async () => (await shownVip(lab.system, shop)).owners[0], { what: 'an owner' })
    const failover = await whileAsking(async () => {
      for (let asked = 0; asked < 50; asked++) await lab.ask(address)
      await powerOff(lab.system.lab, owner)
      await waitFor(async () => (await lab.ask(address)) !== null, { what: 'the other node to serve' })
      await powerOn(lab.system.lab, lab.system.access, owner)
      await nodesInSync(lab.system.access, 2)
    })
    const { pod, took } = await memberDies(lab, address, pods)
    const rest = await whileAsking(async () => void (await untilOver(began, OUTAGE_MS)))
    const meanwhile = await documents(lab)
    await controlPlane.startApiServer()
    const back = performance.now()
    await Promise.all([revive(lab, pod), restartControllers(lab)])
    await lab.expose('after-outage', 'web')
    await lab.answering('after-outage')
    const resumed = msSince(back)
    expect(meanwhile).toEqual(before)
    expect(await documents(lab)).toEqual(expect.arrayContaining([...before]))
    await lab.cluster.api.delete(`${DEFAULT}/after-outage`)
    recordFault({
      fault: 'kubernetes: API server stopped',
      outcome: 'forwarding, VIP failover and health checks go on, nothing is deleted when it is back',
      whole: WHOLE_OUTAGE,
      figure: `${Math.round(OUTAGE_MS / 1000)} s, over a node's power cut ${noneFailed(failover)}; a dead pod left after ${took}; after it 0 of ${rest.count} failed; a new Service answered ${resumed} after it was back`,
    })
  })
})

describe('a connector that is killed', () => {
  it(`${KILLS} times while Services come, change and go: addresses stay, nothing is twice or left over`, async () => {
    const names = Array.from({ length: 8 }, (_, at) => `churn-${at}`)
    /** Address of each Service by its UID, as first shown. */
    const known = new Map<string, string>()
    const moved: string[] = []
    const look = async () => {
      for (const one of await services()) {
        const { uid = '' } = one.metadata
        const now = lab.addressOf(one)
        const first = known.get(uid)
        if (first !== undefined && now !== first) moved.push(`${one.metadata.name}: ${first} became ${now || 'none'}`)
        if (now !== '' && first === undefined) known.set(uid, now)
        if (now !== '' && !one.metadata.finalizers?.includes(FINALIZER))
          moved.push(`${one.metadata.name}: no finalizer`)
      }
    }
    const pick = () => names[Math.floor(Math.random() * names.length)] ?? ''
    const alive = async (name: string) => (await services()).some(({ metadata }) => metadata.name === name)
    let change = 0
    const changeOne = async () => {
      const name = pick()
      change++
      // Deleted meanwhile, or not yet deleted: the API server decides.
      if (!(await alive(name))) return lab.expose(name, 'web').catch(() => {})
      if (change % 5 === 0) return lab.cluster.api.delete(`${DEFAULT}/${name}`).catch(() => {})
      const port = { name: 'http', port: 80 + (change % 3), targetPort: 'http', protocol: 'TCP' }
      return lab.change(name, { spec: { ports: [port] } }).catch(() => {})
    }
    let killed = 0
    const met = await whileAsking(async () => {
      for (; killed < KILLS; killed++) {
        await stopConnector(lab, 'connector', 'SIGKILL')
        await startConnector(lab, { wait: false })
        // The moment is what is tested here.
        await Promise.all([pause(Math.random() * LONGEST_LIFE_MS), changeOne(), changeOne()])
        await look()
      }
      await stopConnector(lab, 'connector', 'SIGKILL')
      await startConnector(lab)
      const began = performance.now()
      await waitFor(
        async () => {
          // A Service whose deletion was in progress goes only now, and can be created again only then.
          for (const name of names) if (!(await alive(name))) await lab.expose(name, 'web')
          const all = await services()
          const documented = await lab.loadBalancers()
          return (
            // Not one that was being deleted at the time, and is gone by now.
            names.every((name) => all.some(({ metadata }) => metadata.name === name)) &&
            all.every((one) => one.metadata.deletionTimestamp === undefined && lab.addressOf(one) !== '') &&
            documented.length === all.length
          )
        },
        { what: 'every Service to have its load balancer, and nothing else to be left', timeoutMs: 30_000 },
      )
      settled = msSince(began)
    })
    await look()
    expect(moved).toEqual([])
    const all = await services()
    expect(all.filter(({ metadata }) => !metadata.finalizers?.includes(FINALIZER))).toEqual([])
    const taken = all.map((one) => lab.addressOf(one))
    expect(new Set(taken).size).toBe(taken.length)
    const documented = await lab.loadBalancers()
    expect(documented.map(({ vips }) => vips[0]?.address).sort()).toEqual([...taken].sort())
    // Each Service has its own pools, once.
    const owners = documented.map(({ pools }) => pools.map(({ name }) => name.split('/')[0]))
    expect(owners.flat().sort()).toEqual(all.map(({ metadata }) => metadata.uid).sort())
    const { items } = await lab.system.api<{ items: readonly { readonly address: string }[] }>(
      lab.tenant,
      'GET',
      '/addresses',
    )
    expect(items.map((one) => one.address).sort()).toEqual([...taken].sort())
    for (const name of names) await answeringIn(lab, 'default', name)
    recordFault({
      fault: 'kubernetes: connector killed at random moments',
      outcome: 'addresses unchanged, none twice, nothing left over, finalizers in place',
      whole: `${ALL_KILLS} kills`,
      figure: `${killed} kills, ${change} changes, ${known.size} Services seen, 0 addresses changed, settled ${settled} after the last start, ${noneFailed(met)}`,
    })
    for (const name of names) await lab.cluster.api.delete(`${DEFAULT}/${name}`)
    await waitFor(async () => (await services()).every(({ metadata }) => !names.includes(metadata.name)), {
      what: 'the finalizers to go',
    })
  })
  let settled = ''
})

describe('the connector that leads', () => {
  const leads = async (name: string) => (await connectorMetric(lab, 'spout_connector_leader', { name })) === 1
  const bothReady = () =>
    waitFor(async () => (await leads('elected-a')) !== (await leads('elected-b')), { what: 'one of two to lead' })

  it('is killed: the other takes over with the next token; it hands over at once when it is asked to end', async () => {
    await stopConnector(lab, 'connector', 'SIGKILL')
    const before = await documents(lab)
    await startConnector(lab, { name: 'elected-a', elect: true })
    await waitFor(() => leads('elected-a'), { what: 'the first to lead' })
    await startConnector(lab, { name: 'elected-b', elect: true })
    await bothReady()
    const token = async () => {
      const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/spout-connector'
      const { spec } = await lab.cluster.api.get<{ spec: { leaseTransitions: number } }>(path)
      return spec.leaseTransitions
    }
    const first = await token()
    let unavailable = ''
    const met = await whileAsking(async () => {
      const began = performance.now()
      await stopConnector(lab, 'elected-a', 'SIGKILL')
      await lab.expose('leaderless', 'web')
      await waitFor(() => leads('elected-b'), { what: 'the other to lead', timeoutMs: 40_000, everyMs: 50 })
      await waitFor(async () => lab.addressOf(await lab.service('leaderless')) !== '', { what: 'its address' })
      unavailable = msSince(began)
    })
    expect(await token()).toBe(first + 1)
    await startConnector(lab, { name: 'elected-a', elect: true })
    expect(await leads('elected-a')).toBe(false)
    const asked = performance.now()
    await stopConnector(lab, 'elected-b', 'SIGTERM')
    await waitFor(() => leads('elected-a'), { what: 'the lease to be handed over', timeoutMs: 30_000, everyMs: 20 })
    const handedOver = msSince(asked)
    expect(await token()).toBeGreaterThan(first + 1)
    expect(await documents(lab)).toEqual(expect.arrayContaining([...before]))
    await lab.cluster.api.delete(`${DEFAULT}/leaderless`)
    await waitFor(async () => JSON.stringify(await documents(lab)) === JSON.stringify(before), {
      what: 'its load balancer to be gone',
    })
    recordFault({
      fault: 'kubernetes: leading connector killed',
      outcome: 'the other takes over with the next token, nothing that was acknowledged is lost',
      figure: `a new Service had its address after ${unavailable} (a lease of 5 s); asked to end, handed over after ${handedOver}; ${noneFailed(met)}`,
    })
    await stopConnector(lab, 'elected-a', 'SIGTERM')
    await startConnector(lab)
  })
})

describe('a control plane of Spout that is away', () => {
  it('stops no Service; what was changed meanwhile arrives afterwards', async () => {
    const { lab: places, access } = lab.system
    const pods = await lab.cluster.readyPods(3, 'app=web')
    const before = await documents(lab)
    const began = performance.now()
    await places.stop(places.process('control-plane')!, 'SIGKILL')
    const { pod, took } = await memberDies(lab, address, pods)
    const met = await whileAsking(async () => {
      await lab.expose('late', 'web')
      await lab.change('one', { spec: { ports: [{ name: 'http', port: 81, targetPort: 'http', protocol: 'TCP' }] } })
      await lab.cluster.api.delete(`${DEFAULT}/two`)
      await untilOver(began, OUTAGE_MS)
    })
    // The nodes could not be told: a deleted Service is kept until they are.
    expect((await lab.service('two')).metadata.deletionTimestamp).toBeDefined()
    const port = Number(new URL(access.endpoint).port)
    await startControlPlane(places, { port, set: ['nodes.announcer=vrrp'] })
    const back = performance.now()
    const one = lab.addressOf(await lab.service('one'))
    await Promise.all([
      lab.answering('late'),
      waitFor(async () => (await lab.ask(one, 81)) !== null && (await lab.ask(one, 80)) === null, {
        what: 'the changed port',
        timeoutMs: 30_000,
      }),
      waitFor(async () => (await services()).every(({ metadata }) => metadata.name !== 'two'), {
        what: 'the deleted Service to be gone',
        timeoutMs: 30_000,
      }),
    ])
    const arrived = msSince(back)
    await revive(lab, pod)
    const kept = before.filter(([, vip]) => vip === address || vip === one)
    expect(await documents(lab)).toEqual(expect.arrayContaining(kept))
    recordFault({
      fault: "kubernetes: Spout's control plane stopped",
      outcome: 'Services keep working, changes made meanwhile arrive afterwards',
      figure: `${Math.round(OUTAGE_MS / 1000)} s, ${noneFailed(met)}; a dead pod left after ${took}; a new, a changed and a deleted Service were done ${arrived} after it was back`,
    })
  })
})

describe('a hostile namespace', () => {
  const create = async (namespace: string, body: BalancedService): Promise<'accepted' | 'refused'> => {
    try {
      await lab.cluster.api.create(servicesIn(namespace), body)
      return 'accepted'
    } catch (error) {
      // A Service that the API server refuses does not concern us.
      if (error instanceof KubernetesApiError && error.status === 422) return 'refused'
      throw error
    }
  }
  /** Deletes all its Services, waits until their load balancers are gone, and deletes the namespace. */
  const gone = async (namespace: string, before: Awaited<ReturnType<typeof documents>>) => {
    await lab.cluster.api.delete(servicesIn(namespace))
    await waitFor(async () => (await lab.cluster.api.list(servicesIn(namespace))).items.length === 0, {
      what: `the Services of ${namespace} to be gone`,
      timeoutMs: 60_000,
    })
    await waitFor(async () => JSON.stringify(await documents(lab)) === JSON.stringify(before), {
      what: `nothing of ${namespace} to be left`,
    })
    await lab.cluster.api.delete(`/api/v1/namespaces/${namespace}`)
  }

  it('with every field hostile changes nothing else; impossible Services get their condition and block nobody', async () => {
    const before = await documents(lab)
    /**
     * All fields except the nodes' reports and the generation: a pod of an earlier test may have just become ready
     * again.
     */
    const shop = async () => {
      const { id, vips, listeners, pools } = (await lab.loadBalancers()).find(
        (one) => one.vips[0]?.address === address,
      )!
      return { id, vips, listeners, pools: pools.map((pool) => [pool.id, pool.name, pool.members.length]) }
    }
    await waitFor(async () => (await shop()).pools[0]?.[2] === 3, { what: 'all pods to be members' })
    const asItWas = await shop()
    const connector = lab.system.lab.process('connector')
    await lab.cluster.createNamespace('hostile')
    const hostile = hostileServices()
    let good = ''
    const outcomes: string[] = []
    const met = await whileAsking(async () => {
      for (const { name, spec, annotations } of hostile)
        outcomes.push(await create('hostile', serviceBody(name, 'web', spec, annotations)))
      for (const { name, spec, annotations } of IMPOSSIBLE)
        expect(await create('hostile', serviceBody(name, 'web', spec, annotations))).toBe('accepted')
      const began = performance.now()
      await lab.expose('good', 'web')
      await lab.answering('good')
      good = msSince(began)
      await waitFor(
        async () => (await balancedServices(lab, 'hostile')).every((one) => programmed(one) !== undefined),
        {
          what: 'each of them to be told what became of it',
          timeoutMs: 60_000,
        },
      )
    })
    const told = new Map((await balancedServices(lab, 'hostile')).map((one) => [one.metadata.name, one]))
    for (const { name, reason } of IMPOSSIBLE) {
      const one = told.get(name) as OwnedService
      expect([name, programmed(one)]).toMatchObject([name, { status: 'False', reason }])
      expect([name, lab.addressOf(one)]).toEqual([name, ''])
    }
    for (const { name } of hostile) expect(programmed(told.get(name) ?? {})?.message ?? '').toMatch(/^[\x20-\x7e]*$/)
    const accepted = outcomes.filter((outcome) => outcome === 'accepted').length
    expect(accepted).toBeGreaterThan(Object.keys(HOSTILE_TEXTS).length * 10)
    expect(await shop()).toEqual(asItWas)
    const all = await lab.loadBalancers()
    expect(all.filter(({ status }) => status.provisioning === 'error')).toEqual([])
    for (const { name } of all.flatMap(({ pools }) => pools)) expect(name).toMatch(/^[0-9a-f-]{36}\/tcp\/\d+$/)
    await nodesInSync(lab.system.access, 2)
    expect(lab.system.lab.process('connector')).toEqual(connector)
    expect(connectorLog(lab)).not.toContain('"bug":true')
    await lab.cluster.api.delete(`${DEFAULT}/good`)
    await gone('hostile', before)
    recordFault({
      fault: 'kubernetes: hostile and impossible Services',
      outcome: 'each gets its condition, nothing else changes',
      figure: `${accepted} of ${hostile.length} hostile ones got past the API server, ${IMPOSSIBLE.length} impossible; 0 blocked, a good one beside them answered after ${good}; ${noneFailed(met)}`,
    })
  })

  it('gets no address of another by annotation, sharing key, externalIPs or status', async () => {
    const [free, other] = ['198.51.100.249', '198.51.100.248']
    const key = { 'spout.dev/allow-shared-ip': 'key' }
    await lab.expose('shared', 'web', {}, key)
    const shared = await lab.answering('shared')
    const before = await documents(lab)
    await lab.cluster.createNamespace('thief')
    await startWorkload(lab, { name: 'evil', replicas: 1, namespace: 'thief' })
    const on = (port: number) => ({ ports: [{ name: 'http', port, targetPort: 'http', protocol: 'TCP' }] })
    const asking: readonly (readonly [string, object, Record<string, string>])[] = [
      ['by-annotation', {}, { 'spout.dev/load-balancer-ips': address }],
      ['by-other-annotation', on(8081), { 'metallb.io/loadBalancerIPs': address }],
      ['by-field', { loadBalancerIP: address }, {}],
      [
        'by-key',
        on(8081),
        { ...key, 'spout.dev/share-with-namespaces': 'default', 'spout.dev/load-balancer-ips': shared },
      ],
    ]
    const thief = (name: string) => lab.cluster.api.get<OwnedService>(`${servicesIn('thief')}/${name}`)
    const met = await whileAsking(async () => {
      for (const [name, spec, annotations] of asking)
        await create('thief', serviceBody(name, 'evil', spec, annotations))
      await create('thief', serviceBody('by-external-ip', 'evil', { externalIPs: [address, free] }))
      await create('thief', serviceBody('by-status', 'evil'))
      await create('thief', serviceBody('key-alone', 'evil', on(8081), key))
      for (const [name] of asking) {
        const condition = await waitFor(async () => programmed(await thief(name)), { what: `a condition on ${name}` })
        expect([name, condition]).toMatchObject([name, { status: 'False', reason: 'AddressTaken' }])
        expect(condition.message).not.toMatch(/shop|shared|default/)
        expect(lab.addressOf(await thief(name))).toBe('')
      }
      for (const name of ['by-external-ip', 'by-status']) {
        const own = await answeringIn(lab, 'thief', name)
        expect([address, shared, free, other]).not.toContain(own)
      }
      await waitFor(async () => lab.addressOf(await thief('key-alone')) !== '', { what: 'an address of its own' })
      expect(lab.addressOf(await thief('key-alone'))).not.toBe(shared)
      const own = lab.addressOf(await thief('by-status'))
      for (const ip of [address, other]) {
        const status = { loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] } }
        await lab.cluster.api.patch(`${servicesIn('thief')}/by-status/status`, { status })
        await waitFor(async () => lab.addressOf(await thief('by-status')) === own, {
          what: 'the status to be put right',
        })
      }
    })
    expect([...met.pods].filter((pod) => !pod.startsWith('web-'))).toEqual([])
    expect(await lab.client.http(shared, 8081, { timeoutMs: 500 })).toMatchObject({ ok: false })
    for (const node of ['node1', 'node2'])
      for (const ip of [free, other]) expect(await lab.system.boundAddresses(node)).not.toContain(ip)
    for (const ip of [free, other])
      expect(await lab.client.http(ip, 80, { timeoutMs: 500 })).toMatchObject({ ok: false })
    await gone('thief', before)
    await lab.cluster.api.delete(`${DEFAULT}/shared`)
    recordFault({
      fault: "kubernetes: a namespace wants another's address",
      outcome: 'refused by annotation, field and sharing key; externalIPs not announced, a patched status put right',
      figure: `${asking.length + 3} ways, 0 addresses taken, ${noneFailed(met)}`,
    })
  })
})
