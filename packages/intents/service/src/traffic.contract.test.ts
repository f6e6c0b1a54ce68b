import { AUTOSCALER_TAINT, EXCLUDE_NODE_LABEL } from '@spout/kube'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
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

type Service = Awaited<ReturnType<ControllerBed['get']>>
const hasIp = (one: Service) => ips(one).length > 0
const idle = () => bed.until('an empty queue', () => running.controller.counters.queued === 0)
const PORTS = [{ name: 'http', port: 8080, protocol: 'TCP' as const }]
const ready = (address: string) => ({
  addresses: [address],
  conditions: { ready: true, serving: true, terminating: false },
})
const slice = (name: string, endpoints: object[], of?: string) =>
  bed.slice(name, { addressType: 'IPv4', endpoints: endpoints as never, ports: PORTS }, of)
const members = (one: Service, pool = 0) =>
  (bed.documentOf(one)?.pools[pool]?.members ?? []).map(({ address, port }) => `${address}:${port}`)
const untilMembers = (one: Service, wanted: readonly string[]) =>
  bed.until(
    `members ${wanted}`,
    () => bed.documentOf(one) !== undefined && [...members(one)].sort().join() === [...wanted].sort().join(),
  )

describe('ports and protocols, against a real API server', () => {
  test('16: TCP and UDP of one number on one address; added and removed one by one', async () => {
    const dns = [
      { name: 'udp', port: 53, protocol: 'UDP' },
      { name: 'tcp', port: 53, protocol: 'TCP' },
    ]
    const one = await bed.create('c16', { ports: dns })
    await bed.when('c16', 'an address', hasIp)
    const listeners = () => bed.documentOf(one)?.listeners.map(({ protocol, port }) => `${protocol}/${port}`)
    expect(listeners()).toEqual(['tcp/53', 'udp/53'])
    await bed.change('c16', { spec: { ports: dns.slice(0, 1) } })
    await bed.until('UDP alone', () => listeners()?.join() === 'udp/53')
    await bed.change('c16', { spec: { ports: dns } })
    await bed.until('both', () => listeners()?.join() === 'tcp/53,udp/53')
  })

  test('17: a changed port opens and closes in one change, on the same address', async () => {
    const one = await bed.create('c17')
    const [address] = ips(await bed.when('c17', 'an address', hasIp))
    await idle()
    running.calls.splice(0)
    await bed.change('c17', { spec: { ports: [{ name: 'http', port: 8081 }] } })
    await bed.until(
      'the other port',
      () =>
        bed
          .documentOf(one)
          ?.listeners.map(({ port }) => port)
          .join() === '8081',
    )
    await idle()
    expect(running.calls).toEqual(['replace'])
    expect(bed.documentOf(one)?.vips[0]?.address).toBe(address)
  })

  test('18: works without node ports; allocating them later changes nothing', async () => {
    const one = await bed.create('c18', { allocateLoadBalancerNodePorts: false })
    await bed.when('c18', 'an address', hasIp)
    expect((await bed.get('c18')).spec.ports?.[0]?.nodePort).toBeUndefined()
    await slice('c18', [ready('10.128.0.18')])
    await untilMembers(one, ['10.128.0.18:8080'])
    await idle()
    running.calls.splice(0)
    await bed.change('c18', { spec: { allocateLoadBalancerNodePorts: true } })
    await bed.when('c18', 'a node port', (now) => (now.spec.ports?.[0]?.nodePort ?? 0) > 0)
    await bed.create('c18-later')
    await bed.when('c18-later', 'an address', hasIp)
    expect(running.calls).toEqual(['create'])
  })
})

describe('traffic', () => {
  test('19, 20: policy Local behind node ports asks healthCheckNodePort; the policy changes without a new address', async () => {
    const one = await bed.create('c19', { externalTrafficPolicy: 'Local' }, { 'spout.dev/mode': 'node-ports' })
    const shown = await bed.when('c19', 'an address', hasIp)
    const pool = () => bed.documentOf(one)?.pools[0]
    expect(pool()?.monitor).toMatchObject({ type: 'http', http: { path: '/healthz' } })
    expect(pool()?.panicThreshold).toBe(1)
    expect(shown.spec.healthCheckNodePort).toBeGreaterThan(0)
    await bed.change('c19', { spec: { externalTrafficPolicy: 'Cluster' } })
    await bed.until(
      'the check of policy Cluster',
      () => pool()?.monitor?.type === 'tcp' && pool()?.panicThreshold === 10,
    )
    expect(ips(await bed.get('c19'))).toEqual(ips(shown))
  })

  test('21: zone hints are weights if requested', async () => {
    const one = await bed.create('c21', {}, { 'spout.dev/prefer-zone': 'b' })
    await slice('c21', [
      { ...ready('10.128.0.21'), hints: { forZones: [{ name: 'a' }] } },
      { ...ready('10.128.0.22'), hints: { forZones: [{ name: 'b' }] } },
    ])
    await untilMembers(one, ['10.128.0.21:8080', '10.128.0.22:8080'])
    expect(bed.documentOf(one)?.pools[0]?.members.map(({ weight }) => weight)).toEqual([1, 100])
  })

  test('22: session affinity is switched live, with its time-out', async () => {
    const one = await bed.create('c22', { sessionAffinity: 'ClientIP' })
    await bed.when('c22', 'an address', hasIp)
    const persistence = () => bed.documentOf(one)?.pools[0]?.persistence
    expect(persistence()).toEqual({ type: 'source-ip', timeoutSeconds: 10_800 })
    await bed.change('c22', { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } } })
    await bed.until('the time-out', () => {
      const now = persistence()
      return now?.type === 'source-ip' && now.timeoutSeconds === 60
    })
    await bed.change('c22', { spec: { sessionAffinity: 'None', sessionAffinityConfig: null } })
    await bed.until('none', () => persistence() === null)
  })

  test('23: source ranges are set, changed and cleared', async () => {
    const one = await bed.create('c23', { loadBalancerSourceRanges: ['203.0.113.0/24', '198.51.100.1/32'] })
    await bed.when('c23', 'an address', hasIp)
    const allowed = () => bed.documentOf(one)?.listeners[0]?.allowedCidrs
    expect(allowed()).toEqual(['198.51.100.1/32', '203.0.113.0/24'])
    await bed.change('c23', { spec: { loadBalancerSourceRanges: [] } })
    await bed.until('all', () => allowed() === null)
  })

  test('25, 26, 29: no endpoints, terminating ones, ready ones; the address stays', async () => {
    const one = await bed.create('c26')
    const [address] = ips(await bed.when('c26', 'an address', hasIp))
    const state = (at: number, conditions: object) => ({ addresses: [`10.128.0.${at}`], conditions })
    const drains = { ready: false, serving: true, terminating: true }
    await slice('c26', [state(26, drains), ready('10.128.0.27')])
    await untilMembers(one, ['10.128.0.27:8080'])
    await slice('c26', [state(26, drains), state(27, drains)])
    await untilMembers(one, ['10.128.0.26:8080', '10.128.0.27:8080'])
    await slice('c26', [state(26, { ...drains, serving: false })])
    await untilMembers(one, [])
    // With publishNotReadyAddresses, Kubernetes reports terminating endpoints as ready.
    await slice('c26', [state(26, { ready: true, terminating: true })])
    await untilMembers(one, ['10.128.0.26:8080'])
    expect(ips(await bed.get('c26'))).toEqual([address])
  })

  test('26: a change of endpoints is one call, none when the members are the same; ids of those that stay, stay', async () => {
    const one = await bed.create('c26-calls')
    await slice('c26-calls', [ready('10.128.1.1'), ready('10.128.1.2')])
    await untilMembers(one, ['10.128.1.1:8080', '10.128.1.2:8080'])
    await idle()
    const [kept] = bed.documentOf(one)?.pools[0]?.members ?? []
    running.calls.splice(0)
    await slice('c26-calls', [ready('10.128.1.1'), ready('10.128.1.3')])
    await untilMembers(one, ['10.128.1.1:8080', '10.128.1.3:8080'])
    await idle()
    expect(running.calls).toEqual(['changeMembers'])
    expect(bed.documentOf(one)?.pools[0]?.members[0]?.id).toBe(kept?.id)
    // A new endpoint that is not ready changes nothing. Neither does one that is in a second slice, too.
    await slice('c26-calls', [ready('10.128.1.3')], 'c26-calls-2')
    await slice('c26-calls', [
      ready('10.128.1.1'),
      ready('10.128.1.3'),
      { addresses: ['10.128.1.4'], conditions: { ready: false } },
    ])
    await bed.create('c26-later')
    await bed.when('c26-later', 'an address', hasIp)
    expect(running.calls).toEqual(['changeMembers', 'create'])
  })

  test('a Service behind which nobody answers says so beside that it is programmed, and with an event', async () => {
    const one = await bed.create('nobody')
    await slice('nobody', [ready('10.128.3.1')])
    await untilMembers(one, ['10.128.3.1:8080'])
    const up = { state: 'yes', reason: 'Serving', message: '', membersUp: 1, members: 1 } as const
    const message = '0 of 1 member answers. Down: 10.128.3.1:8080 (connection refused).'
    const down = { ...up, state: 'no', reason: 'AllMembersDown', message, membersUp: 0 } as const
    const serves = (now: Service) => condition(now, 'spout.dev/Serving')
    for (const serving of [up, down, up]) {
      bed.confirm(bed.documentOf(one)!, { serving })
      const status = serving === down ? 'False' : 'True'
      const now = await bed.when('nobody', status, (said) => serves(said)?.status === status)
      expect(condition(now)?.status).toBe('True')
      expect(serves(now)).toMatchObject({ reason: serving.reason })
      if (serving === down) expect(serves(now)?.message).toContain('10.128.3.1:8080 (connection refused)')
    }
    const told = () =>
      running.events
        .filter(({ service, event }) => service === 'nobody' && event.action === 'ServeClients')
        .map(({ event }) => `${event.type} ${event.reason}`)
    await bed.until('both events', () => told().length === 2)
    expect(told()).toEqual(['Warning AllMembersDown', 'Normal Serving'])
  })

  test('an endpoint that the control plane refuses is left out and reported', async () => {
    const one = await bed.create('c-left-out')
    await bed.when('c-left-out', 'an address', hasIp)
    await slice('c-left-out', [ready('192.168.77.1'), ready('10.128.0.30')])
    await untilMembers(one, ['10.128.0.30:8080'])
    bed.confirm(bed.documentOf(one)!)
    const told = await bed.when('c-left-out', 'a notice', (now) => condition(now)?.reason === 'EndpointsLeftOut')
    expect(condition(told)?.message).toContain('192.168.77.1')
  })
})

describe('nodes', () => {
  const node = async (name: string, address: string, body: object = {}) => {
    await bed.api.create('/api/v1/nodes', { metadata: { name }, ...body } as never)
    await bed.api.patch(`/api/v1/nodes/${name}/status`, { status: { addresses: [{ type: 'InternalIP', address }] } })
  }

  test('31, 32, 35, 40: which nodes are behind node ports', async () => {
    const one = await bed.create('c31', {}, { 'spout.dev/mode': 'node-ports' })
    const created = await bed.when('c31', 'an address without any node', hasIp)
    bed.confirm(bed.documentOf(one)!)
    await bed.when('c31', 'a notice', (now) => condition(now)?.reason === 'NoEligibleNodes')
    const port = created.spec.ports?.[0]?.nodePort
    await node('n1', '10.0.0.11')
    await node('n2', '10.0.0.12', { spec: { unschedulable: true } })
    await untilMembers(one, [`10.0.0.11:${port}`, `10.0.0.12:${port}`])
    // A node that is NotReady stays a member (KEP-3458).
    const conditions = [{ type: 'Ready', status: 'False', reason: 'x', message: 'x' }]
    await bed.api.patch('/api/v1/nodes/n1/status', { status: { conditions } })
    await bed.api.patch('/api/v1/nodes/n2', { metadata: { labels: { [EXCLUDE_NODE_LABEL]: '' } } })
    await untilMembers(one, [`10.0.0.11:${port}`])
    await bed.api.patch('/api/v1/nodes/n2', { metadata: { labels: { [EXCLUDE_NODE_LABEL]: null } } })
    await untilMembers(one, [`10.0.0.11:${port}`, `10.0.0.12:${port}`])
    await bed.api.patch('/api/v1/nodes/n2/status', {
      status: { conditions: [{ type: 'NetworkUnavailable', status: 'True', reason: 'x', message: 'x' }] },
    })
    await untilMembers(one, [`10.0.0.11:${port}`])
    await bed.api.patch('/api/v1/nodes/n1', { spec: { taints: [{ key: AUTOSCALER_TAINT, effect: 'NoSchedule' }] } })
    await untilMembers(one, [])
    for (const name of ['n1', 'n2']) await bed.api.delete(`/api/v1/nodes/${name}`)
    expect(ips(await bed.get('c31'))).toEqual(ips(created))
  })

  test('36: while the API server is away nothing changes; afterwards work goes on', async () => {
    const one = await bed.create('c36')
    await slice('c36', [ready('10.128.0.36')])
    await untilMembers(one, ['10.128.0.36:8080'])
    await idle()
    running.calls.splice(0)
    await bed.cluster.controlPlane.stopApiServer()
    bed.confirm(bed.documentOf(one)!)
    await bed.cluster.controlPlane.startApiServer()
    await bed.when('c36', 'programmed', (now) => condition(now)?.reason === 'Programmed')
    expect(running.calls).toEqual([])
    await slice('c36', [ready('10.128.0.37')])
    await untilMembers(one, ['10.128.0.37:8080'])
  })
})
