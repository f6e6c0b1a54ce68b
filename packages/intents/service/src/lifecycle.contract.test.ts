import { MANAGED_BY } from '@spout/connector'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FINALIZER } from './names.ts'
import {
  CLASS,
  type ControllerBed,
  condition,
  ips,
  openControllerBed,
  type RunningController,
} from './testing/controller-bed.fixture.ts'

let bed: ControllerBed
let running: RunningController
beforeAll(async () => {
  bed = await openControllerBed()
  running = await bed.start()
})
afterAll(() => bed.close())
afterEach(() => running.calls.splice(0))

const finalized = (one: Awaited<ReturnType<ControllerBed['get']>>) =>
  one.metadata.finalizers?.includes(FINALIZER) ?? false
/**
 * The reasons of the events about a Service. Wait for them: an event follows the answer to a write, and the watch may
 * be faster.
 */
const reasons = (name: string) =>
  running.events.filter(({ service }) => service === name).map(({ event }) => event.reason)
const hasIp = (one: Awaited<ReturnType<ControllerBed['get']>>) => ips(one).length > 0

describe('selection and lifecycle, against a real API server', () => {
  test('1: acts only on type LoadBalancer of its class, or of none as the default implementation', async () => {
    await bed.create('c1-cluster-ip', { type: 'ClusterIP' })
    await bed.create('c1-foreign', { loadBalancerClass: 'metallb.io/metallb' })
    await bed.create('c1-ours', { loadBalancerClass: CLASS })
    await bed.create('c1-default')
    await bed.when('c1-default', 'an address', hasIp)
    await bed.when('c1-ours', 'an address', hasIp)
    for (const name of ['c1-cluster-ip', 'c1-foreign']) {
      const one = await bed.get(name)
      expect([finalized(one), hasIp(one), one.status?.conditions ?? []]).toEqual([false, false, []])
    }
  })

  test('1: without being the default it leaves Services without a class alone', async () => {
    await running.stop()
    running = await bed.start({ isDefault: false, cluster: 'another' })
    await bed.create('c1-nobodys')
    await bed.create('c1-mine', { loadBalancerClass: CLASS })
    await bed.when('c1-mine', 'an address', hasIp)
    expect(finalized(await bed.get('c1-nobodys'))).toBe(false)
    await bed.remove('c1-mine')
    await bed.gone('c1-mine')
    await running.stop()
    running = await bed.start()
    await bed.when('c1-nobodys', 'an address', hasIp)
  })

  test('2: a Service that changed its class is no longer written, and its load balancer goes', async () => {
    const one = await bed.create('c2')
    await bed.when('c2', 'an address', hasIp)
    await running.stop()
    // While no controller runs, the type changes away and back, with another class.
    await bed.change('c2', { spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, nodePort: null }] } })
    await bed.change('c2', { spec: { type: 'LoadBalancer', loadBalancerClass: 'metallb.io/metallb' } })
    const before = await bed.get('c2')
    running = await bed.start()
    await bed.until('the load balancer to be gone', () => bed.documentOf(one) === undefined)
    const after = await bed.get('c2')
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
  })

  test('3: the finalizer is set before the load balancer exists, and removed after it is gone', async () => {
    const one = await bed.create('c3')
    await bed.until('a load balancer', () => bed.documentOf(one))
    expect(running.writes.some((write) => write.endsWith('/c3'))).toBe(true)
    expect(finalized(await bed.get('c3'))).toBe(true)
    await bed.remove('c3')
    await bed.gone('c3')
    expect(bed.documentOf(one)).toBeUndefined()
    expect(running.calls).toEqual(['create', 'delete'])
    await bed.until('it to be told', () => reasons('c3').includes('LoadBalancerReleased'))
  })

  test('3: endpoints that come while the finalizer is written are in the load balancer from the start', async () => {
    await running.stop()
    const onWrite = async (write: string) => {
      if (!write.endsWith('/services/c3-early') || running.kube.slicesOf('shop/c3-early').length > 0) return
      await bed.slice('c3-early', {
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.128.0.7'], conditions: { ready: true } }],
        ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      })
      await bed.until('the watch to show the slice', () => running.kube.slicesOf('shop/c3-early').length > 0)
    }
    running = await bed.start({}, { onWrite })
    const one = await bed.create('c3-early')
    const document = await bed.until('a load balancer', () => bed.documentOf(one))
    expect(document.generation).toBe(1)
    expect(document.pools[0]?.members.map(({ address }) => address)).toEqual(['10.128.0.7'])
  })

  test('3: deletion waits while the control plane does not answer', async () => {
    const one = await bed.create('c3-wait')
    await bed.when('c3-wait', 'an address', hasIp)
    const document = bed.documentOf(one)
    const { admission } = bed.spout
    const original = admission.deleteLoadBalancer.bind(admission)
    let refusals = 0
    admission.deleteLoadBalancer = async (id, options) => {
      if (id === document?.id && refusals++ < 3) throw new Error('not now')
      return original(id, options)
    }
    try {
      await bed.remove('c3-wait')
      await bed.until('refusals', () => refusals >= 2)
      expect(finalized(await bed.get('c3-wait'))).toBe(true)
      await bed.gone('c3-wait')
      expect(bed.documentOf(one)).toBeUndefined()
    } finally {
      admission.deleteLoadBalancer = original
    }
  })

  test('3: the finalizer stays until the nodes have confirmed that they hold nothing of it', async () => {
    const one = await bed.create('c3-nodes')
    await bed.when('c3-nodes', 'an address', hasIp)
    const id = bed.documentOf(one)?.id ?? ''
    const node = { nodeId: 'n1', nodeName: 'node1', connection: 'connected', message: null } as const
    const held = { projectId: bed.project.id, overdue: false, waitingFor: [node] }
    bed.spout.withdrawals.hold(id, held)
    await bed.remove('c3-nodes')
    await bed.until('the load balancer to be gone', () => bed.documentOf(one) === undefined)
    // It does not delay other Services, and a restart forgets nothing.
    await bed.create('c3-other')
    await bed.when('c3-other', 'an address', hasIp)
    expect(finalized(await bed.get('c3-nodes'))).toBe(true)
    await running.stop()
    running = await bed.start()
    await bed.create('c3-later')
    await bed.when('c3-later', 'an address', hasIp)
    await bed.until('an empty queue', () => running.controller.counters.queued <= 1)
    expect(finalized(await bed.get('c3-nodes'))).toBe(true)
    bed.spout.withdrawals.letGo(id)
    await bed.gone('c3-nodes')
    await bed.until('it to be told', () => reasons('c3-nodes').length > 0)
    expect(reasons('c3-nodes')).toEqual(['LoadBalancerReleased'])
  })

  test('3: a node that does not withdraw in time delays nothing for ever, and an event names it', async () => {
    const one = await bed.create('c3-stuck')
    await bed.when('c3-stuck', 'an address', hasIp)
    const id = bed.documentOf(one)?.id ?? ''
    const node = { nodeId: 'n1', nodeName: 'node1', connection: 'connected', message: 'no such device' } as const
    bed.spout.withdrawals.hold(id, { projectId: bed.project.id, overdue: true, waitingFor: [node] })
    await bed.remove('c3-stuck')
    await bed.gone('c3-stuck')
    await bed.until('it to be told', () => reasons('c3-stuck').includes('NotWithdrawn'))
    const told = running.events.filter(({ service }) => service === 'c3-stuck').map(({ event }) => event)
    expect(told.find(({ reason }) => reason === 'NotWithdrawn')).toMatchObject({
      type: 'Warning',
      note: expect.stringContaining('node node1 has not confirmed'),
    })
    bed.spout.withdrawals.letGo(id)
  })

  test('4: a change of type clears everything; changed back, it starts again', async () => {
    const one = await bed.create('c4')
    await bed.when('c4', 'an address', hasIp)
    await bed.change('c4', { spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, nodePort: null }] } })
    const cleared = await bed.when('c4', 'no trace', (service) => !finalized(service) && !hasIp(service))
    expect(cleared.status?.conditions ?? []).toEqual([])
    expect(cleared.metadata.annotations?.[MANAGED_BY]).toBeUndefined()
    expect(bed.documentOf(one)).toBeUndefined()
    await bed.change('c4', { spec: { type: 'LoadBalancer' } })
    await bed.when('c4', 'an address', (service) => finalized(service) && hasIp(service))
  })

  test('5: a Service created again under the same name is another one: the old load balancer goes first', async () => {
    const first = await bed.create('c5')
    await bed.when('c5', 'an address', hasIp)
    await running.stop()
    await bed.change('c5', { metadata: { finalizers: null } })
    await bed.remove('c5')
    await bed.gone('c5')
    const second = await bed.create('c5')
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    running = await bed.start()
    await bed.when('c5', 'an address', hasIp)
    expect(bed.documentOf(first)).toBeUndefined()
    expect(bed.documentOf(second)).toBeDefined()
    expect(running.asked).toContain('c5')
    expect(running.calls.indexOf('delete')).toBeLessThan(running.calls.indexOf('create'))
  })

  test('6: a status is written only when it differs', async () => {
    const one = await bed.create('c6')
    await bed.when('c6', 'an address', hasIp)
    const writes = () => running.writes.filter((write) => /\/c6(\/status)?$/.test(write))
    // Reasons that last only a moment are neither written nor reported.
    for (const reason of ['WaitingForNode', 'WaitingForPlan', 'WaitingForAnnouncement', 'NodeDisconnected'])
      bed.confirm(bed.documentOf(one)!, { provisioning: 'pending', reason, confirmedGeneration: 0 })
    bed.confirm(bed.documentOf(one)!)
    await bed.when('c6', 'programmed', (service) => condition(service)?.status === 'True')
    const first = ['', '/status', '/status'].map((part) => expect.stringMatching(`/c6${part}$`))
    expect(writes()).toEqual(first)
    // Another confirmation and another endpoint change nothing that clients of the Service notice.
    bed.confirm(bed.documentOf(one)!)
    await bed.slice('c6', {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.128.0.6'], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    })
    await bed.until('a member', () => bed.documentOf(one)?.pools[0]?.members.length === 1)
    bed.confirm(bed.documentOf(one)!)
    // This Service comes after c6 in the same queue. Once it is done, c6 has been looked at.
    await bed.create('c6-later')
    await bed.when('c6-later', 'an address', hasIp)
    expect(writes()).toEqual(first)
    // That it works is reported once.
    await bed.until('it to be told', () => reasons('c6').length > 0)
    const told = running.events.filter(({ service }) => service === 'c6').map(({ event }) => event)
    expect(told).toEqual([expect.objectContaining({ type: 'Normal', reason: 'Programmed' })])
  })

  test('6: a lagging watch causes no second finalizer', async () => {
    await running.stop()
    let watch: { letGo(): void } | null = null
    const onWrite = async (write: string) => {
      if (write.endsWith('/c6-lags')) watch ??= running.holdWatch()
    }
    running = await bed.start({}, { onWrite })
    const one = await bed.create('c6-lags')
    await bed.when('c6-lags', 'an address', hasIp)
    bed.confirm(bed.documentOf(one)!)
    await bed.when('c6-lags', 'programmed', (service) => condition(service)?.status === 'True')
    const written = running.writes.filter((write) => write.includes('/c6-lags'))
    expect(written.map((write) => write.replace(/^.*c6-lags/, ''))).toEqual(['', '/status', '/status'])
    expect(running.kube.service('shop/c6-lags')).toSatisfy(finalized)
    watch!.letGo()
    await bed.until('what was written', () => hasIp(running.kube.service('shop/c6-lags')!))
    expect(running.kube.service('shop/c6-lags')).toSatisfy(finalized)
  })

  test('7: a restart keeps every address and writes nothing', async () => {
    const names = ['c7-a', 'c7-b', 'c7-c']
    for (const name of names) await bed.create(name)
    const before = await Promise.all(names.map((name) => bed.when(name, 'an address', hasIp)))
    await bed.until('an empty queue', () => running.controller.counters.queued === 0)
    await running.stop()
    running = await bed.start()
    await bed.until('a controller that has looked', () => running.controller.ready)
    await bed.until('an empty queue', () => running.controller.counters.queued === 0)
    expect(running.writes).toEqual([])
    expect(running.calls).toEqual([])
    for (const one of before) expect(ips(await bed.get(one.metadata.name))).toEqual(ips(one))
  })

  test('7: of two controllers at once neither allocates twice', async () => {
    const second = await bed.start()
    const one = await bed.create('c7-two')
    await bed.when('c7-two', 'an address', hasIp)
    await bed.until('empty queues', () => [running, second].every(({ controller }) => controller.counters.queued === 0))
    const of = bed.documents().filter(({ annotations }) => annotations[`kubernetes.service.${one.metadata.uid}`])
    expect(of).toHaveLength(1)
    await second.stop()
  })

  test('7: nor when one sees what the other created, just before it does the same', async () => {
    let isAbout = false
    await running.stop()
    const waits = (name: string) => bed.until('the second to be about to make it', () => name !== 'create' || isAbout)
    running = await bed.start({}, { onCall: async (name) => void (await waits(name)) })
    const first = running
    const one = await bed.create('c7-late')
    await bed.when('c7-late', 'claimed by the first', finalized)
    const isShown = () => running.controller.known.ofUid(one.metadata.uid ?? '').length > 0
    const onCall = async (name: string) => {
      if (name !== 'addressPools') return
      isAbout = true
      await bed.until('what the first made to be shown', isShown)
    }
    running = await bed.start({}, { onCall })
    await bed.until('the first to have made it', isShown)
    await first.stop()
    // Queues the Service a second time. The second look begins after the first has ended.
    await bed.slice('c7-late', {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.128.0.8'], conditions: { ready: true } }],
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    })
    const ofIt = () =>
      bed.documents().filter(({ annotations }) => annotations[`kubernetes.service.${one.metadata.uid}`])
    await bed.until('the endpoint', () => ofIt().some(({ pools }) => pools[0]?.members.length === 1))
    expect(ofIt()).toHaveLength(1)
  })

  test('7: a load balancer stays when the API server has its Service, though the watch has not shown it yet', async () => {
    const second = await bed.start()
    const watch = running.holdWatch()
    const one = await bed.create('c7-unseen')
    await bed.when('c7-unseen', 'an address', hasIp)
    const questions = () => running.asked.filter((name) => name === 'c7-unseen').length
    // The controller asks again, because the answer was that the Service exists.
    await bed.until('questions', () => questions() >= 2)
    expect(running.kube.service('shop/c7-unseen')).toBeUndefined()
    watch.letGo()
    await bed.until('it to be shown', () => running.kube.service('shop/c7-unseen') !== undefined)
    await bed.until('empty queues', () => [running, second].every(({ controller }) => controller.counters.queued === 0))
    expect(running.calls).not.toContain('delete')
    expect(bed.documentOf(one)).toBeDefined()
    await second.stop()
  })

  test('7: a Service deleted during a downtime is looked up before its load balancer goes', async () => {
    const one = await bed.create('c7-absent')
    await bed.when('c7-absent', 'an address', hasIp)
    await running.stop()
    await bed.change('c7-absent', { metadata: { finalizers: null } })
    await bed.remove('c7-absent')
    await bed.gone('c7-absent')
    // While the question cannot be answered, the load balancer stays.
    const stood: boolean[] = []
    const onQuestion = () => {
      stood.push(bed.documentOf(one) !== undefined)
      if (stood.length <= 3) throw new Error('no answer')
    }
    running = await bed.start({}, { onQuestion })
    await bed.until('the load balancer to be gone', () => bed.documentOf(one) === undefined)
    expect(stood).toEqual([true, true, true, true])
    expect(running.asked).toEqual(Array(4).fill('c7-absent'))
    expect(running.calls).toEqual(['delete'])
  })

  test('7: a control plane that lost its state assigns the addresses again', async () => {
    await running.stop()
    const one = await bed.create('c7-lost', { loadBalancerIP: '198.51.100.150' })
    running = await bed.start()
    await bed.when('c7-lost', 'its address', (service) => ips(service)[0] === '198.51.100.150')
    await running.stop()
    await bed.change('c7-lost', { spec: { loadBalancerIP: null } })
    await bed.spout.admission.deleteLoadBalancer(bed.documentOf(one)!.id, { cascade: true })
    running = await bed.start()
    const again = await bed.until('a load balancer', () => bed.documentOf(one))
    expect(again.vips[0]?.address).toBe('198.51.100.150')
  })

  test('endpoints are told of clients by the PROXY protocol while that is asked for, at the same address', async () => {
    const one = await bed.create('proxied')
    await bed.when('proxied', 'an address', hasIp)
    const before = bed.documentOf(one)?.vips
    const protocols = () => {
      const { listeners = [], pools = [] } = bed.documentOf(one) ?? {}
      return `${listeners[0]?.protocol} ${pools[0]?.protocol}`
    }
    expect(protocols()).toBe('tcp tcp')
    // Past the load balancer pods would bring no header.
    for (const [value, wanted, ipMode] of [
      ['v2', 'tcp-proxy tcp-proxy-v2', 'Proxy'],
      ['v1', 'tcp-proxy tcp-proxy-v1', 'Proxy'],
      [null, 'tcp tcp', 'VIP'],
    ] as const) {
      await bed.change('proxied', { metadata: { annotations: { 'spout.dev/proxy-protocol': value } } })
      await bed.until(wanted, () => protocols() === wanted)
      await bed.when('proxied', ipMode, ({ status }) => status?.loadBalancer?.ingress?.[0]?.ipMode === ipMode)
    }
    expect(bed.documentOf(one)?.vips).toEqual(before)
    await bed.change('proxied', { metadata: { annotations: { 'spout.dev/proxy-protocol': 'v3' } } })
    await bed.when('proxied', 'why', (service) => condition(service)?.reason === 'InvalidAnnotation')
    expect(protocols()).toBe('tcp tcp')
  })

  test('TCP ports end TLS with the certificate of a Secret, which may come later, be renewed, and go', async () => {
    const one = await bed.create('ended', {}, { 'spout.dev/tls-secret': 'cert' })
    await bed.when('ended', 'why', (service) => condition(service)?.status === 'False')
    expect(bed.documentOf(one)).toBeUndefined()
    await bed.secret('cert', 'shop.example.org')
    const served = await bed.when('ended', 'an address', hasIp)
    expect(served.status?.loadBalancer?.ingress?.[0]?.ipMode).toBe('Proxy')
    const listener = () => bed.documentOf(one)?.listeners[0]
    const [made] = bed.certificates()
    expect(listener()).toMatchObject({ protocol: 'tls', tls: { certificateIds: [made?.id] } })
    expect(made?.names).toEqual(['shop.example.org'])
    await bed.secret('cert', 'next.example.org')
    await bed.until('the next certificate', () => bed.certificates()[0]?.names[0] === 'next.example.org')
    expect(bed.certificates()).toHaveLength(1)
    expect(listener()?.tls?.certificateIds).toEqual([made?.id])
    // While the Secret is missing, its last certificate is served.
    await bed.secret('cert', null)
    await bed.until('it to be told', () => running.events.some(({ event }) => event.note.includes('tls-secret')))
    expect(listener()?.protocol).toBe('tls')
    await bed.change('ended', { metadata: { annotations: { 'spout.dev/tls-secret': null } } })
    await bed.until('plain TCP', () => listener()?.protocol === 'tcp')
    await bed.until('no certificate', () => bed.certificates().length === 0)
  })

  test('a control plane that shows no certificates keeps no Service waiting but those that name a Secret', async () => {
    await running.stop()
    const certificates = {
      ...{ of: () => ({ type: 'waits' }) as const, name: () => {}, complete: () => {} },
      onChange: () => () => {},
    }
    running = await bed.start({}, { certificates })
    await bed.create('named', {}, { 'spout.dev/tls-secret': 'cert' })
    await bed.create('plain')
    await bed.when('plain', 'an address', hasIp)
    expect(ips(await bed.get('named'))).toEqual([])
    await running.stop()
    for (const name of ['named', 'plain']) await bed.remove(name)
    running = await bed.start()
  })

  test('8: why a Service is pending is in its condition, and reported once', async () => {
    await bed.create('c8-first', {}, { 'spout.dev/address-pool': 'tiny' })
    await bed.when('c8-first', 'an address', hasIp)
    await bed.create('c8', {}, { 'spout.dev/address-pool': 'tiny' })
    const pending = await bed.when('c8', 'a reason', (service) => condition(service) !== undefined)
    expect(condition(pending)).toMatchObject({ status: 'False', reason: 'AddressPoolExhausted' })
    expect(condition(pending)?.message).toContain('tiny has 0 of 1 addresses free')
    expect(ips(pending)).toEqual([])
    // The event follows the write of the status.
    const told = await bed.until('it to be told', () => {
      const events = running.events.filter(({ service }) => service === 'c8')
      return events.length > 0 && events
    })
    expect(told.map(({ event }) => [event.type, event.reason])).toEqual([['Warning', 'AddressPoolExhausted']])
    // An address that becomes free is taken at once.
    await bed.remove('c8-first')
    await bed.when('c8', 'the address', (service) => ips(service)[0] === '203.0.113.10')
  })
})
