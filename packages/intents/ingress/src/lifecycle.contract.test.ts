import type { LoadBalancer } from '@spout/model'
import { LONGEST_BUILD_MS } from '@spout/testkit'
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
