import type { IngressSpec } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { byLength, LONGEST_BUILD_MS, waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type IngressBed, ips, openIngressBed, type RunningIngresses } from './testing/ingress-bed.fixture.ts'
import { rule } from './testing/objects.ts'

let bed: IngressBed
let running: RunningIngresses
beforeAll(async () => {
  bed = await openIngressBed()
  await bed.service('web', ['10.128.0.1', '10.128.0.2'])
  await bed.service('cart', ['10.128.0.3'])
  running = await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())
afterEach(async () => {
  for (const namespace of ['shop', 'other']) {
    const { items } = await bed.api.list<{ metadata: { name: string } }>(bed.path('', namespace).slice(0, -1))
    for (const { metadata } of items) await bed.remove(metadata.name, namespace)
  }
  await bed.until('nothing', () => bed.documents().length === 0 && bed.certificates().length === 0)
  running.events.length = 0
  running.writes.length = 0
})

const membersOf = ({ pools }: LoadBalancer, name: string) =>
  pools.find((pool) => pool.name === name)?.members.map(({ address, port }) => `${address}:${port}`)
const listenerOf = ({ listeners }: LoadBalancer, protocol: string) =>
  listeners.find((listener) => listener.protocol === protocol)
/** Runs `each` for the numbers below `count`, some at a time. */
async function forEach(count: number, each: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await each(next++)
  }
  await Promise.all(Array.from({ length: 8 }, work))
}
const told = (name: string) =>
  running.events.filter(({ ingress }) => ingress === name).map(({ event }) => `${event.type} ${event.reason}`)

test('Ingresses of a namespace share a load balancer, whose address they show once the nodes have it', async () => {
  await bed.create('one', { rules: [rule('a.example / Prefix web')] })
  await bed.create('two', { ingressClassName: 'spout', rules: [rule('b.example / Prefix cart')] })
  const document = await bed.document('both', ({ pools }) => pools.length === 2)
  expect(membersOf(document, 'shop/web:80')).toEqual(['10.128.0.1:8080', '10.128.0.2:8080'])
  // Two rules, and 404 for what none takes.
  expect(listenerOf(document, 'http')?.routes).toHaveLength(3)
  expect(listenerOf(document, 'https')).toBeUndefined()
  expect(ips(await bed.get('one'))).toEqual([])
  bed.confirm(document)
  const addresses = document.vips.map(({ address }) => address)
  await bed.until('addresses', async () => {
    for (const name of ['one', 'two']) if (ips(await bed.get(name)).join() !== addresses.join()) return false
    return true
  })
  expect(told('one')).toEqual(['Normal Programmed'])
  const serving = { reason: 'AllMembersDown', message: 'No member answers.', membersUp: 0, members: 3 } as const
  bed.confirm(document, { serving: { state: 'no', ...serving } })
  for (const name of ['one', 'two'])
    await bed.until('that nobody answers', () => told(name).at(-1) === 'Warning AllMembersDown')

  await bed.service('web', ['10.128.0.9'])
  await bed.document('the new endpoint', (one) => membersOf(one, 'shop/web:80')?.join() === '10.128.0.9:8080')
  await bed.remove('one')
  const left = await bed.document('one Ingress', ({ pools }) => pools.length === 1)
  expect(left.vips).toEqual(document.vips)
  await bed.service('web', ['10.128.0.1', '10.128.0.2'])
})

test('each namespace has a load balancer of its own', async () => {
  await bed.create('one', { rules: [rule('a.example / Prefix web')] })
  await bed.create('one', { rules: [rule('a.example / Prefix web')] }, 'other')
  await bed.until('two load balancers', () => bed.documents().length === 2)
  expect(new Set(bed.documents().map(({ vips }) => vips[0]?.address)).size).toBe(2)
  // Of the other namespace, which has no such Service.
  await bed.until('the reason', () => running.events.some(({ event }) => event.reason === 'BackendNotFound'))
  await bed.service('web', ['10.128.0.7'], 'other')
  await bed.until('its endpoint', () =>
    bed.documents().some((one) => membersOf(one, 'other/web:80')?.join() === '10.128.0.7:8080'),
  )
})

test('Secrets become certificates of an HTTPS listener, are rotated, and go with the last who names them', async () => {
  await bed.secret('web-tls', 'a.example')
  await bed.create('one', {
    tls: [
      { hosts: ['a.example'], secretName: 'web-tls' },
      { hosts: ['c.example'], secretName: 'late-tls' },
    ],
    rules: [rule('a.example / Prefix web')],
  })
  const document = await bed.document('HTTPS', (one) => listenerOf(one, 'https') !== undefined)
  const [certificate] = bed.certificates()
  expect(listenerOf(document, 'https')?.tls?.certificateIds).toEqual([certificate?.id])
  await bed.until('the reason', () => told('one').includes('Warning SecretNotFound'))

  await bed.secret('late-tls', 'c.example')
  await bed.document('two certificates', (one) => listenerOf(one, 'https')?.tls?.certificateIds.length === 2)
  const before = certificate?.contentId
  await bed.secret('web-tls', 'a.example')
  await bed.until('rotation', () => bed.certificates().every(({ contentId }) => contentId !== before))
  expect(bed.certificates().map(({ id }) => id)).toContain(certificate?.id)
})

const idleNow = () => bed.until('an empty queue', () => running.controller.counters.queued === 0)

test('the oldest wins a path that two want, and both are told; a broken Ingress stops no other', async () => {
  await bed.create('old', { rules: [rule('a.example /x Prefix web')] })
  await bed.until(
    'a second later',
    async () => Date.now() - Date.parse((await bed.get('old')).metadata.creationTimestamp ?? '') > 1100,
  )
  await bed.create('young', { rules: [rule('a.example /x Prefix cart'), rule('b.example / Prefix none')] })
  await bed.document('all rules', (one) => listenerOf(one, 'http')?.routes.length === 3)
  await bed.until('events', () => told('old').length > 0 && told('young').length > 1)
  expect(told('old')).toEqual(['Warning DuplicateRule'])
  expect(told('young').toSorted()).toEqual(['Warning BackendNotFound', 'Warning DuplicateRule'])
  const [document] = bed.documents()
  const winner = listenerOf(document!, 'http')?.routes.find(({ conditions }) => conditions.length === 2)
  const pool = document?.pools.find(({ name }) => name === 'shop/web:80')
  expect(winner?.action).toMatchObject({ type: 'forward', pools: [{ poolId: pool?.id }] })
})

test('an Ingress beyond the quota is told, and those that are served go on to change and to go', async () => {
  await bed.create('fits', { rules: [rule('fits.example / Prefix web')] })
  const isServed = (host: string) => JSON.stringify(bed.documents()).includes(host)
  await bed.until('the first', () => isServed('fits.example'))
  await idleNow()
  const count = bed.documents().flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes)).length
  await bed.spout.admission.setQuota(bed.project.id, { routes: count }, {})
  running.events.length = 0
  await bed.create('more', { rules: [rule('more.example / Prefix web')] })
  await bed.until('the reason', () => told('more').includes('Warning OverQuota'))
  expect(told('fits')).toEqual([])
  await bed.api.patch(bed.path('fits'), { spec: { rules: [rule('changed.example / Prefix web')] } })
  await bed.until('the change', () => isServed('changed.example'))
  expect(isServed('more.example')).toBe(false)
  await bed.remove('fits')
  await bed.until('room', () => isServed('more.example'))
  await bed.remove('more')
  await bed.spout.admission.setQuota(bed.project.id, { routes: 1000 }, {})
})

// 1,000 of each with SPOUT_LONG_TESTS=1.
test('broken Ingresses beside good ones: these are served, each broken one is told, and a change of one costs what it did before', {
  timeout: byLength(60_000, 900_000),
}, async () => {
  const count = byLength(20, 1000)
  const patience = byLength(30_000, 300_000)
  const until = (what: string, probe: () => boolean) => waitFor(probe, { what, timeoutMs: patience })
  /** Hosts whose root goes to Service `web`. */
  const served = () => {
    const [document] = bed.documents()
    const pool = document?.pools.find(({ name }) => name === 'shop/web:80')?.id
    const routes = document === undefined ? [] : (listenerOf(document, 'http')?.routes ?? [])
    return routes.flatMap(({ conditions, action }) =>
      action.type === 'forward' && action.pools.every(({ poolId }) => poolId === pool)
        ? conditions.flatMap(({ on, values }) => (on === 'host' ? values : []))
        : [],
    )
  }
  const idle = () => until('an empty queue', () => running.controller.counters.queued === 0)
  /** What the coming and going of an Ingress costs: versions of the load balancer, and writes to the API server. */
  const costOfAChange = async (host: string) => {
    await idle()
    const generation = bed.documents()[0]?.generation ?? 0
    running.writes.length = 0
    await bed.create('changes', { rules: [rule(`${host} / Prefix web`)] })
    await until('the change', () => served().includes(host))
    await bed.remove('changes')
    await until('it to go', () => !served().includes(host))
    await idle()
    return { versions: (bed.documents()[0]?.generation ?? 0) - generation, writes: [...running.writes] }
  }
  const goodHost = (number: number) => `good-${number}.example`
  const goodHosts = Array.from({ length: count }, (_, number) => goodHost(number)).sort()
  // More than the broken ones and the good ones together.
  await bed.spout.admission.setQuota(bed.project.id, { routes: 4000 }, {})
  await forEach(count, (number) => bed.create(`good-${number}`, { rules: [rule(`${goodHost(number)} / Prefix web`)] }))
  await until('the good ones', () => served().length === count)
  const before = await costOfAChange('before.example')
  expect(before).toEqual({ versions: 2, writes: [] })

  await bed.api.apply('/api/v1/namespaces/shop/services/outside', {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'outside', namespace: 'shop' } },
    spec: { type: 'ExternalName', externalName: 'metadata.internal' },
  })
  await bed.api.apply('/api/v1/namespaces/shop/secrets/no-certificate', {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'no-certificate', namespace: 'shop' } },
    ...{ type: 'kubernetes.io/tls', data: { 'tls.crt': 'bm9uZQ==', 'tls.key': 'bm9uZQ==' } },
  })
  const tls = (host: string, secretName: string) => [{ hosts: [host], secretName }]
  const regex = (host: string) => ({
    host,
    http: {
      paths: [
        {
          path: '/(',
          pathType: 'ImplementationSpecific' as const,
          backend: { service: { name: 'web', port: { number: 80 } } },
        },
      ],
    },
  })
  const broken: readonly (readonly [reason: string, spec: (host: string, number: number) => IngressSpec])[] = [
    ['BackendNotFound', (host) => ({ rules: [rule(`${host} / Prefix nobody`)] })],
    ['UnsupportedBackend', (host) => ({ rules: [rule(`${host} / Prefix outside`)] })],
    ['InvalidRoute', (host) => ({ rules: [regex(host)] })],
    ['InvalidCertificate', (host) => ({ tls: tls(host, 'no-certificate'), rules: [rule(`${host} / Prefix cart`)] })],
    [
      'SecretNotFound',
      (host, number) => ({ tls: tls(host, `missing-${number}`), rules: [rule(`${host} / Prefix cart`)] }),
    ],
    ['DuplicateRule', (_, number) => ({ rules: [rule(`${goodHost(number)} / Prefix cart`)] })],
  ]
  const brokenAt = (number: number) => broken[number % broken.length]!
  // Of two of the same age the first by name has a path: these come behind the good ones.
  running.events.length = 0
  await forEach(count, (number) =>
    bed.api.create(bed.path('', 'shop').slice(0, -1), {
      metadata: { name: `wrong-${number}`, annotations: { 'nginx.ingress.kubernetes.io/use-regex': 'true' } },
      spec: brokenAt(number)[1](`wrong-${number}.example`, number),
    } as object),
  )
  const names = Array.from({ length: count }, (_, number) => number)
  await until('all reasons', () =>
    names.every((number) => told(`wrong-${number}`).includes(`Warning ${brokenAt(number)[0]}`)),
  )
  await idle()
  expect(served().toSorted()).toEqual(goodHosts)
  for (const number of names) expect(told(`wrong-${number}`)).toEqual([`Warning ${brokenAt(number)[0]}`])
  expect(await costOfAChange('after.example')).toEqual(before)
  await bed.api.delete('/api/v1/namespaces/shop/services/outside')
  await forEach(count, async (number) => {
    await bed.remove(`good-${number}`)
    await bed.remove(`wrong-${number}`)
  })
})

test('hosts become names once a domain of the project covers them, of one namespace alone', async () => {
  await bed.create('one', { rules: [rule('a.example / Prefix web'), rule('b.example / Prefix web')] })
  await bed.document('a load balancer', ({ pools }) => pools.length === 1)
  await bed.until('nothing left to do', () => running.controller.counters.queued === 0)
  expect(told('one')).toEqual([])
  await bed.giveDomains(['a.example'])
  await bed.document('its name', ({ dnsNames }) => dnsNames?.join() === 'a.example')
  await bed.until('the other host', () => told('one').includes('Warning NameRefused'))

  await bed.create('late', { rules: [rule('a.example / Prefix web')] }, 'other')
  await bed.until('the refusal', () => told('late').includes('Warning NameRefused'))
  expect(bed.documents()).toHaveLength(2)
  expect(bed.documents().map(({ dnsNames = [] }) => dnsNames.join())).toEqual(expect.arrayContaining(['a.example', '']))
  const notes = running.events.filter(({ ingress }) => ingress === 'late').map(({ event }) => event.note)
  expect(notes.join()).toContain('another load balancer has the name')
  await bed.remove('one')
  await bed.remove('late', 'other')
  await bed.until('nothing', () => bed.documents().length === 0)
  await bed.giveDomains([])
})

test('Ingresses of other classes are never touched; one that leaves ours loses our address alone', async () => {
  await bed.create('foreign', { ingressClassName: 'foreign', rules: [rule('a.example / Prefix web')] })
  await bed.api.patch(`${bed.path('foreign')}/status`, { status: { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } } })
  await bed.create('ours', { rules: [rule('b.example / Prefix web')] })
  const document = await bed.document('ours', () => true)
  bed.confirm(document)
  await bed.until('the address', async () => ips(await bed.get('ours')).length === 1)
  await bed.api.patch(bed.path('ours'), { spec: { ingressClassName: 'foreign' } })
  await bed.until(
    'nothing of ours',
    async () => bed.documents().length === 0 && ips(await bed.get('ours')).length === 0,
  )
  expect(ips(await bed.get('foreign'))).toEqual(['192.0.2.7'])
  expect(running.writes.filter((write) => write.includes('/ingresses/foreign'))).toEqual([])
  expect(told('foreign')).toEqual([])
})

test('a restart changes nothing, and takes down what was deleted meanwhile', async () => {
  await bed.secret('web-tls', 'a.example')
  await bed.create('one', { tls: [{ secretName: 'web-tls' }], rules: [rule('a.example / Prefix web')] })
  await bed.create('two', { rules: [rule('b.example / Prefix cart')] })
  const document = await bed.document(
    'HTTPS',
    (one) => listenerOf(one, 'https') !== undefined && one.pools.length === 2,
  )
  bed.confirm(document)
  await bed.until('addresses', async () => ips(await bed.get('two')).length === 1)
  const { generation } = bed.documents()[0]!
  await running.stop()
  running = await bed.start()
  await bed.until('both sides read', () => running.controller.ready)
  await bed.until('nothing left to do', () => running.controller.counters.queued === 0)
  expect(bed.documents()[0]?.generation).toBe(generation)
  expect(running.writes).toEqual([])
  await running.stop()
  for (const name of ['one', 'two']) await bed.remove(name)
  running = await bed.start()
  await bed.until('nothing', () => bed.documents().length === 0 && bed.certificates().length === 0)
})
