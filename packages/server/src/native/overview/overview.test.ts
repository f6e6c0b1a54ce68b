import type { ServerResponse } from 'node:http'
import { loadBalancerRow } from '@spout/model'
import { FakeClock } from '@spout/runtime/fake-clock'
import { type ReceivedEvent, type ReceivedEvents, receiveEvents } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let url: string
let admin: string
let poolId: string
/** Two tenants. */
let one: { readonly id: string; readonly token: string; readonly userId: string }
let two: typeof one

beforeAll(async () => {
  bed = await openTestBed()
  url = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  admin = await bed.adminLogin()
  const tenant = async (name: string) => {
    const { id } = await bed.admission.createProject({ name, description: '' })
    return { id, ...(await bed.login(`user of ${name}`, id, 'member')) }
  }
  one = await tenant('one')
  two = await tenant('two')
  const pool = await bed.admission.createAddressPool({
    ...{ name: 'p', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '198.51.100.1', last: '198.51.100.250' }],
  })
  poolId = pool.id
})
afterAll(() => bed.close())

const create = (projectId: string, name: string) =>
  bed.admission.createLoadBalancer({
    ...{ projectId, name, description: '', tags: [], enabled: true, listeners: [], pools: [] },
    ...{ vips: [{ from: 'pool', poolId, address: null }], nodeGroupId: null, annotations: {} },
  })
const rowsOf = async (token: string, query = '') =>
  (await bed.askNative('GET', `/overview/load-balancers${query}`, token)).body
const namesOf = async (token: string, query = '') =>
  (await rowsOf(token, query)).items.map(({ name }: { name: string }) => name).toSorted()

/** A stream whose `hello` has come. */
async function follow(token: string, topics?: string): Promise<ReceivedEvents> {
  const query = topics === undefined ? '' : `?topics=${topics}`
  const events = await receiveEvents(`${url}/api/v1/events${query}`, token)
  expect(await events.next()).toMatchObject({
    event: 'hello',
    data: { version: expect.any(String), revision: expect.any(String) },
  })
  return events
}

/** The first event that the test waits for. */
async function until(events: ReceivedEvents, found: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent> {
  for (;;) {
    const event = await events.next()
    if (event === null) throw new Error('the stream has ended')
    if (found(event)) return event
  }
}

/** The next event about an object: those of earlier tests may still come. */
const about = (events: ReceivedEvents, id: string | null) => until(events, ({ data }) => data.id === id)

describe('rows', () => {
  test('a tenant sees its own, an administrator all or those of a project', async () => {
    const [a, b] = [await create(one.id, 'row a'), await create(two.id, 'row b')]
    expect(await namesOf(one.token)).toEqual(['row a'])
    expect(await namesOf(two.token)).toEqual(['row b'])
    expect(await namesOf(two.token, `?project=${one.id}`)).toEqual([])
    expect(await namesOf(admin)).toEqual(['row a', 'row b'])
    expect(await namesOf(admin, `?project=${two.id}`)).toEqual(['row b'])
    const { items, revision } = await rowsOf(admin)
    expect(revision).toEqual(expect.any(String))
    for (const row of items) expect(loadBalancerRow.parse(row)).toEqual(row)
    const row = items.find(({ id }: { id: string }) => id === a.id)
    expect(row).toMatchObject({ projectName: 'one', health: 'pending', vips: [a.vips[0]?.address] })
    for (const { id } of [a, b]) await bed.admission.deleteLoadBalancer(id, { cascade: true })
  })
})

describe('events', () => {
  test('a load balancer is created, changed by its nodes, deleted', async () => {
    const events = await follow(one.token)
    const made = await create(one.id, 'live')
    expect(await about(events, made.id)).toMatchObject({ event: 'row', data: { health: 'pending' } })
    bed.status.set(made.id, {
      ...{ provisioning: 'active', reason: 'Programmed' },
      serving: { state: 'no', reason: 'AllMembersDown', message: 'All are down.', membersUp: 0, members: 1 },
    })
    const row = await until(events, ({ data }) => data.health === 'failed')
    expect(row).toMatchObject({ event: 'row', data: { id: made.id, reason: 'All are down.' } })
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
    expect(await until(events, ({ event }) => event === 'gone')).toEqual({ event: 'gone', data: { id: made.id } })
    events.close()
  })

  test('many changes of one load balancer at once are one row, as it is in the end', async () => {
    const made = await create(one.id, 'often')
    const events = await follow(one.token)
    for (let n = 0; n < 50; n++) bed.status.set(made.id, { provisioning: 'error', message: `Reason ${n}.` })
    expect(await until(events, ({ data }) => data.health === 'failed')).toMatchObject({
      event: 'row',
      data: { id: made.id, reason: 'Reason 49.' },
    })
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
    expect(await about(events, made.id)).toMatchObject({ event: 'gone' })
    events.close()
  })

  test('rates that change are a row', async () => {
    const made = await create(one.id, 'busy')
    const events = await follow(one.token)
    bed.figures.set(made.id, { connectionsPerSecond: 12.34, bytesPerSecond: 5 })
    const row = await until(events, ({ data }) => data.connectionsPerSecond !== null)
    expect(row).toMatchObject({ event: 'row', data: { id: made.id, connectionsPerSecond: 12, bytesPerSecond: 5 } })
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
    events.close()
  })

  test('a renamed project is in its rows', async () => {
    const { id } = await bed.admission.createProject({ name: 'before', description: '' })
    const made = await create(id, 'of a renamed project')
    const events = await follow(admin)
    await bed.admission.changeProject(id, { name: 'after' })
    const row = await until(events, ({ data }) => data.projectName === 'after')
    expect(row).toMatchObject({ event: 'row', data: { id: made.id } })
    events.close()
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
  })

  test('the open load balancer is told by id and revision, until it is gone', async () => {
    const [made, other] = [await create(one.id, 'open'), await create(one.id, 'not open')]
    const events = await follow(one.token, `load-balancer:${made.id}`)
    bed.status.set(other.id, { reason: 'Other' })
    await bed.admission.changeLoadBalancer(made.id, () => ({ name: 'open and renamed' }))
    const { revision } = bed.view.get('loadBalancer', made.id)!
    const told = await until(events, ({ data }) => data.revision === revision)
    expect(told).toEqual({ event: 'load-balancer', data: { id: made.id, revision } })
    for (const { id } of [other, made]) await bed.admission.deleteLoadBalancer(id, { cascade: true })
    expect(await until(events, ({ event }) => event === 'gone')).toEqual({ event: 'gone', data: { id: made.id } })
    events.close()
  })

  test("objects are told to those who may know them, addresses by their clients' id", async () => {
    const [mine, theirs] = [await follow(one.token, 'objects'), await follow(two.token, 'objects')]
    const network = await bed.admission.createNetwork({
      ...{ projectId: one.id, name: 'inside', description: '', returnPath: 'snat' },
      segment: { physicalNetwork: 'physnet1', vlan: null },
    })
    const told = await about(mine, network.id)
    expect(told).toEqual({ event: 'object', data: { kind: 'network', id: network.id } })
    await bed.admission.deleteNetwork(network.id)
    expect(await about(mine, null)).toEqual({ event: 'object', data: { kind: 'network', id: null } })
    const made = await create(two.id, 'with an address')
    const address = bed.view.list('address').find(({ ownerId }) => ownerId === made.id)!
    expect(await about(theirs, address.portId)).toMatchObject({ event: 'object', data: { kind: 'address' } })
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
    for (const events of [mine, theirs]) events.close()
  })

  test('nodes are told to administrators alone', async () => {
    const { id: nodeGroupId } = await bed.admission.createNodeGroup({ name: 'g', description: '', announcer: 'l2' })
    const { secret } = await bed.admission.createEnrolmentToken({ nodeName: 'n1', nodeGroupId, ttlSeconds: 60 })
    const events = await follow(admin, 'nodes')
    const node = await bed.admission.enrolNode(secret, async () => 'a'.repeat(64))
    expect(await about(events, node.id)).toEqual({ event: 'node', data: { id: node.id } })
    events.close()
    const refused = await bed.askNative('GET', '/events?topics=nodes', one.token)
    expect(refused).toMatchObject({ status: 403, body: { code: 'Forbidden' } })
  })

  test.each(['everything', 'load-balancer:web', '', 'load-balancers,everything'])(
    'topic "%s" is refused',
    async (topic) =>
      expect(await bed.askNative('GET', `/events?topics=${topic}`, one.token)).toMatchObject({
        status: 400,
        body: { code: 'InvalidField', field: 'topics' },
      }),
  )

  test('a tenant gets no event about another, not even of one that it names', async () => {
    const made = await create(two.id, 'secret of two')
    const mine = await follow(one.token, `load-balancers,objects,load-balancer:${made.id}`)
    const theirs = await follow(two.token)
    bed.status.set(made.id, { provisioning: 'error', message: 'Secret of two.' })
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
    await until(theirs, ({ event }) => event === 'gone')
    // Batches are told in order, so whatever it got of those changes comes before this.
    const own = await create(one.id, 'own')
    const seen: ReceivedEvent[] = []
    await until(mine, (event) => seen.push(event) > 0 && event.data.id === own.id)
    expect(seen.filter(({ data }) => JSON.stringify(data).match(/secret/i) || data.id === made.id)).toEqual([])
    expect(seen.filter(({ event }) => event === 'row')).toHaveLength(1)
    await bed.admission.deleteLoadBalancer(own.id, { cascade: true })
    for (const events of [mine, theirs]) events.close()
  })

  test('a reader that takes nothing for a while gets what changed meanwhile once, as it is then', async () => {
    const made = await create(one.id, 'of a slow reader')
    const { promise: answer, resolve: open } = Promise.withResolvers<ServerResponse>()
    bed.app.server.prependOnceListener('request', (_, raw) => open(raw))
    const events = await follow(one.token)
    const raw = await answer
    const write = raw.write.bind(raw)
    const { promise: full, resolve: fill } = Promise.withResolvers<void>()
    const written: string[] = []
    raw.write = (text: Buffer) => {
      write(text)
      if (written.length === 0 && !text.includes('First.')) return true
      written.push(text.toString())
      fill()
      return false
    }
    bed.status.set(made.id, { provisioning: 'error', message: 'First.' })
    await full
    const quick = await follow(one.token)
    for (const message of ['Second.', 'Third.']) {
      bed.status.set(made.id, { provisioning: 'error', message })
      await until(quick, ({ data }) => data.reason === message)
    }
    expect(written).toHaveLength(1)
    raw.emit('drain')
    await until(events, ({ data }) => data.reason === 'First.')
    expect(await about(events, made.id)).toMatchObject({ event: 'row', data: { reason: 'Third.' } })
    for (const each of [events, quick]) each.close()
    await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
  })

  test.each([
    ['is disabled', 'Unauthenticated', { enabled: false }],
    ['has a lesser role', 'Forbidden', 'reader'],
  ] as const)('a reader whose user %s gets `end` and nothing after it', async (what, code, change) => {
    const { userId, token } = await bed.login(`reader who ${what}`, one.id, 'member')
    const events = await follow(token)
    const user = bed.view.get('user', userId)!.value
    const changed = change === 'reader' ? { roles: [{ projectId: one.id, role: change }] } : change
    await bed.admission.putUser({ ...user, ...changed })
    expect(await until(events, ({ event }) => event === 'end')).toMatchObject({ data: { code } })
    expect(await events.next()).toBeNull()
  })

  test('a project may not have more of them than watches', async () => {
    const { id } = await bed.admission.createProject({ name: 'greedy', description: '' })
    const { token } = await bed.login('greedy', id, 'member')
    const open = await Promise.all(Array.from({ length: 64 }, () => follow(token)))
    expect(await bed.askNative('GET', '/events', token)).toMatchObject({ status: 429 })
    for (const events of open) events.close()
  })

  test('a quiet stream gets a comment every 15 seconds, and ends when its server closes', async () => {
    const clock = new FakeClock()
    const own = await openTestBed(clock)
    const address = await own.app.listen({ host: '127.0.0.1', port: 0 })
    const token = await own.adminLogin()
    const reply = await fetch(`${address}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } })
    const chunks = reply.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
    expect((await chunks.next()).value).toMatch(/^retry: 1000\nevent: hello\ndata: .*\n\n$/)
    for (const _ of [1, 2]) {
      await clock.advance(15_000)
      expect(await chunks.next()).toEqual({ done: false, value: ': \n\n' })
    }
    await own.close()
    expect(await chunks.next()).toMatchObject({ done: true })
  })
})
