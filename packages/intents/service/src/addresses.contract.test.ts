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
const is = (reason: string) => (one: Service) => condition(one)?.reason === reason
const DUAL = { ipFamilies: ['IPv4', 'IPv6'] }
const idle = () => bed.until('an empty queue', () => running.controller.counters.queued === 0)

describe('addresses and status, against a real API server', () => {
  test('10: loadBalancerIP, the annotation of each family, and both at once', async () => {
    await bed.create('c10-field', { loadBalancerIP: '198.51.100.101' })
    await bed.create(
      'c10-both-families',
      { ...DUAL, ipFamilyPolicy: 'RequireDualStack' },
      { 'spout.dev/load-balancer-ips': '198.51.100.102,2001:db8:1::42' },
    )
    await bed.create(
      'c10-both',
      { loadBalancerIP: '198.51.100.103' },
      { 'metallb.io/loadBalancerIPs': '198.51.100.103' },
    )
    expect(ips(await bed.when('c10-field', 'an address', hasIp))).toEqual(['198.51.100.101'])
    expect(ips(await bed.when('c10-both-families', 'addresses', hasIp))).toEqual(['198.51.100.102', '2001:db8:1::42'])
    const refused = await bed.when('c10-both', 'a refusal', is('InvalidAddress'))
    expect([ips(refused), condition(refused)?.message]).toEqual([[], expect.stringContaining('spec.loadBalancerIP')])
  })

  test('10: another address requested on a live Service', async () => {
    const one = await bed.create('c10-move')
    await bed.when('c10-move', 'an address', hasIp)
    await bed.change('c10-move', { spec: { loadBalancerIP: '198.51.100.104' } })
    await bed.when('c10-move', 'the other address', (service) => ips(service)[0] === '198.51.100.104')
    expect(bed.documentOf(one)?.vips.map(({ address }) => address)).toEqual(['198.51.100.104'])
  })

  test('11: the address stays over ports, policies, affinity, ranges, mistakes and without endpoints', async () => {
    const one = await bed.create('c11')
    const [address] = ips(await bed.when('c11', 'an address', hasIp))
    const id = bed.documentOf(one)?.id
    const steps: [object, (service: Service) => boolean][] = [
      [{ ports: [{ name: 'http', port: 81 }] }, () => bed.documentOf(one)?.listeners[0]?.port === 81],
      [{ externalTrafficPolicy: 'Local' }, () => true],
      [{ sessionAffinity: 'ClientIP' }, () => bed.documentOf(one)?.pools[0]?.persistence !== null],
      [
        { loadBalancerSourceRanges: ['203.0.113.0/24'] },
        () => bed.documentOf(one)?.listeners[0]?.allowedCidrs?.[0] === '203.0.113.0/24',
      ],
      [{ loadBalancerIP: 'nonsense' }, is('InvalidAddress')],
      [
        { loadBalancerIP: null, loadBalancerSourceRanges: null },
        () => bed.documentOf(one)?.listeners[0]?.allowedCidrs === null,
      ],
      [{ externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: false }, () => true],
    ]
    for (const [spec, done] of steps) {
      await bed.change('c11', { spec })
      await bed.when('c11', `the address after ${JSON.stringify(spec)}`, (now) => done(now) && ips(now)[0] === address)
      await idle()
    }
    expect(bed.documentOf(one)?.id).toBe(id)
    expect(running.calls.filter((call) => call === 'delete')).toEqual([])
  })

  test('12: an ip with ipMode VIP, no host name, before anything answers; then the condition says that it works', async () => {
    const one = await bed.create('c12')
    const early = await bed.when('c12', 'an address', hasIp)
    expect(early.status?.loadBalancer?.ingress).toEqual([{ ip: expect.any(String), ipMode: 'VIP' }])
    expect(condition(early)).toMatchObject({ status: 'False', reason: 'WaitingForNode' })
    bed.confirm(bed.documentOf(one)!)
    const works = await bed.when('c12', 'programmed', is('Programmed'))
    expect(condition(works)?.status).toBe('True')
    bed.confirm(bed.documentOf(one)!, { provisioning: 'error', reason: 'NoNodeAvailable', message: 'No node.' })
    const broken = await bed.when('c12', 'an error', is('NoNodeAvailable'))
    expect([condition(broken)?.status, hasIp(broken)]).toEqual(['False', true])
  })

  test('12: a new port is not reported as working before the nodes confirmed it', async () => {
    const one = await bed.create('c12-port')
    bed.confirm(await bed.until('a load balancer', () => bed.documentOf(one)))
    await bed.when('c12-port', 'programmed', is('Programmed'))
    bed.spout.status.loadBalancers.set(bed.documentOf(one)!.id, { provisioning: 'pending' })
    await bed.change('c12-port', {
      spec: {
        ports: [
          { name: 'http', port: 80 },
          { name: 'more', port: 82 },
        ],
      },
    })
    await bed.when('c12-port', 'waiting', is('WaitingForNode'))
    bed.confirm(bed.documentOf(one)!)
    await bed.when('c12-port', 'programmed', is('Programmed'))
  })

  test('13: a port that cannot be served gets an error of its own', async () => {
    await bed.create(
      'c13',
      {
        allocateLoadBalancerNodePorts: false,
        ports: [
          { name: 'a', port: 80, nodePort: 30480 },
          { name: 'b', port: 81 },
        ],
      },
      { 'spout.dev/mode': 'node-ports' },
    )
    const one = await bed.when('c13', 'an address', hasIp)
    expect(one.status?.loadBalancer?.ingress?.[0]?.ports).toEqual([
      { port: 80, protocol: 'TCP' },
      { port: 81, protocol: 'TCP', error: 'spout.dev/NoNodePort' },
    ])
    expect(condition(one, 'LoadBalancerPortsError')).toMatchObject({ status: 'True', reason: 'PortsNotServed' })
    await bed.change('c13', { spec: { allocateLoadBalancerNodePorts: true } })
    await bed.when('c13', 'no error', (now) => condition(now, 'LoadBalancerPortsError') === undefined)
  })

  test('14: single, preferred and required dual stack; a family added and removed on a live Service', async () => {
    const one = await bed.create('c14')
    const [four] = ips(await bed.when('c14', 'an address', hasIp))
    await bed.change('c14', { spec: { ...DUAL, ipFamilyPolicy: 'PreferDualStack' } })
    const both = await bed.when('c14', 'two addresses', (now) => ips(now).length === 2)
    expect(ips(both)[0]).toBe(four)
    await bed.change('c14', { spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } })
    await bed.when('c14', 'one address', (now) => ips(now).length === 1 && ips(now)[0] === four)
    await bed.until('one VIP', () => bed.documentOf(one)?.vips.length === 1)

    await bed.create('c14-six-first', { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' })
    const six = ips(await bed.when('c14-six-first', 'two addresses', (now) => ips(now).length === 2))
    expect(six[0]).toContain('2001:db8:1::')

    const four4 = { 'spout.dev/address-pool': 'public' }
    await bed.create('c14-prefer', { ...DUAL, ipFamilyPolicy: 'PreferDualStack' }, four4)
    expect(ips(await bed.when('c14-prefer', 'one address is success', hasIp))).toHaveLength(1)
    await bed.create('c14-require', { ...DUAL, ipFamilyPolicy: 'RequireDualStack' }, four4)
    const pending = await bed.when('c14-require', 'a reason', is('NoAddressPool'))
    expect(ips(pending)).toEqual([])
  })

  test('15: sharing: one address by one key, ports of each; released when the last one goes', async () => {
    const key = { 'metallb.io/allow-shared-ip': 'c15' }
    const a = await bed.create('c15-a', {}, key)
    const [address] = ips(await bed.when('c15-a', 'an address', hasIp))
    await bed.create('c15-b', { ports: [{ name: 'tls', port: 443 }] }, key)
    await bed.when('c15-b', 'the same address', (now) => ips(now)[0] === address)
    expect(
      bed
        .documentOf(a)
        ?.listeners.map(({ port }) => port)
        .sort(),
    ).toEqual([443, 80])
    await bed.create('c15-c', {}, key)
    const other = await bed.when('c15-c', 'another address: its port is taken', hasIp)
    expect(ips(other)[0]).not.toBe(address)
    await bed.create(
      'c15-d',
      {
        loadBalancerIP: address,
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 8080 },
        ],
      },
      key,
    )
    const partly = await bed.when('c15-d', 'the address it asks for', hasIp)
    expect(partly.status?.loadBalancer?.ingress?.[0]?.ports?.[0]).toMatchObject({
      port: 80,
      error: 'spout.dev/PortTaken',
    })
    // The Service that the address was created for is deleted. The others keep the address, and its port is free for
    // them.
    await bed.remove('c15-a')
    await bed.gone('c15-a')
    await bed.when('c15-d', 'the port', (now) => condition(now, 'LoadBalancerPortsError') === undefined)
    expect(ips(await bed.get('c15-b'))[0]).toBe(address)
    for (const name of ['c15-b', 'c15-d']) {
      await bed.remove(name)
      await bed.gone(name)
    }
    expect(bed.documents().some(({ vips }) => vips.some((vip) => vip.address === address))).toBe(false)
  })

  test('15, 38: across namespaces only when both say so; a key alone is no claim', async () => {
    const key = { 'spout.dev/allow-shared-ip': 'c38', 'spout.dev/share-with-namespaces': 'other' }
    await bed.create('c38', {}, key)
    const [address] = ips(await bed.when('c38', 'an address', hasIp))
    const ports = [{ name: 'x', port: 81 }]
    await bed.create('c38-thief', { ports, loadBalancerIP: address }, { 'spout.dev/allow-shared-ip': 'c38' }, 'other')
    const thief = await bed.when('c38-thief', 'a refusal', is('AddressTaken'), 'other')
    expect(ips(thief)).toEqual([])
    await bed.create(
      'c38-friend',
      { ports },
      { 'spout.dev/allow-shared-ip': 'c38', 'spout.dev/share-with-namespaces': 'shop' },
      'other',
    )
    await bed.when('c38-friend', 'the same address', (now) => ips(now)[0] === address, 'other')
  })

  test('38: no pool, address or patched status of another project or Service', async () => {
    await bed.create('c38-pool', {}, { 'spout.dev/address-pool': 'foreign' })
    await bed.create('c38-address', { loadBalancerIP: '192.0.2.11' })
    const [held] = ips(await bed.get('c38'))
    await bed.create('c38-taken', { loadBalancerIP: held })
    await bed.when('c38-pool', 'a refusal', is('PoolNotFound'))
    await bed.when('c38-address', 'a refusal', is('AddressNotInPool'))
    await bed.when('c38-taken', 'a refusal', is('AddressTaken'))
    // A forged status is corrected, and takes the address from nobody.
    const one = await bed.create('c38-status')
    const [own] = ips(await bed.when('c38-status', 'an address', hasIp))
    await bed.change('c38-status/status', { status: { loadBalancer: { ingress: [{ ip: held }] } } })
    await bed.when('c38-status', 'its own address', (now) => ips(now)[0] === own)
    expect(bed.documentOf(one)?.vips.map(({ address }) => address)).toEqual([own])
  })

  test('39: a pool in use cannot be deleted, and an address is never renumbered silently', async () => {
    const one = await bed.create('c39', {}, { 'spout.dev/address-pool': 'tiny' })
    await bed.when('c39', 'an address', hasIp)
    await expect(bed.spout.admission.deleteAddressPool(bed.pools.tiny.id)).rejects.toMatchObject({ code: 'InUse' })
    await running.stop()
    running = await bed.start({ defaultPools: ['six'] })
    await bed.until('a controller that has looked', () => running.controller.ready)
    await idle()
    expect(ips(await bed.get('c39'))).toEqual([bed.documentOf(one)?.vips[0]?.address])
    // Refused requests are retried ('create'); no existing load balancer is changed.
    expect(running.calls.filter((call) => call !== 'create')).toEqual([])
  })

  test('39: a draining pool keeps the addresses that are taken, and new ones come from the next pool that may give them', async () => {
    const { admission } = bed.spout
    const before = await bed.create('c39-before', {}, { 'spout.dev/address-pool': 'old,public' })
    expect(ips(await bed.when('c39-before', 'an address', hasIp))).toEqual(['192.0.2.100'])
    await admission.changeAddressPool(bed.pools.old.id, { draining: true })
    await bed.create('c39-next', {}, { 'spout.dev/address-pool': 'old,public' })
    expect(ips(await bed.when('c39-next', 'an address', hasIp))[0]).toMatch(/^198\.51\.100\./)
    await bed.create('c39-only', {}, { 'spout.dev/address-pool': 'old' })
    const refused = await bed.when('c39-only', 'a refusal', is('AddressPoolDraining'))
    expect(condition(refused)?.message).toMatch(
      /spec\.loadBalancerIP.*address pool old is draining: it gives no new addresses/,
    )
    expect(ips(await bed.get('c39-before'))).toEqual([bed.documentOf(before)?.vips[0]?.address])
    // A change of a pool makes the controller retry refused Services. Deletion works as usual.
    await admission.changeAddressPool(bed.pools.old.id, { draining: false })
    expect(ips(await bed.when('c39-only', 'an address', hasIp))[0]).toMatch(/^192\.0\.2\.10\d$/)
    await bed.remove('c39-before')
    await bed.gone('c39-before')
  })

  test('a Service older than its pool gets an address once the pool exists', async () => {
    await bed.create('early', {}, { 'spout.dev/address-pool': 'late' })
    await bed.when('early', 'a refusal', is('PoolNotFound'))
    await makePool('late', '192.0.2.210')
    expect(ips(await bed.when('early', 'an address', hasIp))).toEqual(['192.0.2.210'])
  })

  test('a control plane that lost its state assigns the shown addresses again once it has the pool', async () => {
    await running.stop()
    await bed.api.create('/api/v1/namespaces', { metadata: { name: 'lost' } })
    // The pool is named, not a default: other pools must not be used instead.
    const settings = { cluster: 'lost-cluster', namespaces: ['lost'], defaultPools: [] }
    const pool = await makePool('brief', '192.0.2.220')
    running = await bed.start(settings)
    const one = await bed.create('kept', {}, {}, 'lost')
    expect(ips(await bed.when('kept', 'an address', hasIp, 'lost'))).toEqual(['192.0.2.220'])
    await running.stop()
    await bed.spout.admission.deleteLoadBalancer(bed.documentOf(one)?.id ?? '', { cascade: true })
    await bed.spout.admission.deleteAddressPool(pool.id)

    running = await bed.start(settings)
    const waiting = await bed.when('kept', 'word of it', is('AddressPoolAwaited'), 'lost')
    expect(ips(waiting)).toEqual(['192.0.2.220'])
    expect(bed.documentOf(one)).toBeUndefined()
    await makePool('brief', '192.0.2.220')
    await bed.until('the load balancer', () => bed.documentOf(one) !== undefined)
    expect(bed.documentOf(one)?.vips.map(({ address }) => address)).toEqual(['192.0.2.220'])
    await idle()
    expect(ips(await bed.get('kept', 'lost'))).toEqual(['192.0.2.220'])
  })
})

const makePool = (name: string, address: string) =>
  bed.spout.admission.createAddressPool({
    ...{ name, description: '', cidr: '192.0.2.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: address, last: address }],
  })
