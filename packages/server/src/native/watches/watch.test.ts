import type { ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

interface Line {
  readonly type: string
  readonly revision?: string
  readonly object?: { readonly id: string; readonly name?: string; readonly status?: { readonly reason: string } }
  readonly error?: { readonly code: string }
}

let bed: TestBed
let url: string
let projectId: string
let poolId: string
let otherId: string
let member: { userId: string; token: string }
let stranger: string

beforeAll(async () => {
  bed = await openTestBed()
  url = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  otherId = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = await bed.login('m', projectId, 'member')
  const pool = await bed.admission.createAddressPool({
    ...{ name: 'p', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '198.51.100.1', last: '198.51.100.9' }],
  })
  poolId = pool.id
  stranger = (await bed.login('s', otherId, 'member')).token
})
afterAll(() => bed.close())

const network = (name: string) =>
  bed.admission.createNetwork({
    ...{ projectId, name, description: '', returnPath: 'snat' },
    segment: { physicalNetwork: 'physnet1', vlan: null },
  })

/** The lines of a watch, one at a time; bookmarks left out unless asked for. */
async function watch(path: string, token: string) {
  const abort = new AbortController()
  const reply = await fetch(`${url}/api/v1${path}`, { headers: { 'x-auth-token': token }, signal: abort.signal })
  expect(reply.headers.get('content-type')).toBe('application/x-ndjson')
  if (reply.body === null) throw new Error('no body')
  const lines = createInterface({ input: Readable.fromWeb(reply.body) })[Symbol.asyncIterator]()
  const next = async (bookmarks = false): Promise<Line | null> => {
    for (;;) {
      const { value, done } = await lines.next().catch(() => ({ value: '', done: true }))
      if (done === true) return null
      const line: Line = JSON.parse(value)
      if (bookmarks || line.type !== 'BOOKMARK') return line
    }
  }
  return { next, close: () => abort.abort() }
}

test('existing objects, then changes, and resumes where it ended', async () => {
  const first = await network('first')
  const stream = await watch('/networks?watch=1', member.token)
  expect(await stream.next(true)).toMatchObject({ type: 'ADDED', object: { id: first.id } })
  expect(await stream.next(true)).toMatchObject({ type: 'BOOKMARK', revision: expect.any(String) })
  const second = await network('second')
  const added = await stream.next()
  expect(added).toMatchObject({ type: 'ADDED', object: { id: second.id } })
  stream.close()
  await bed.admission.deleteNetwork(second.id)
  const again = await watch(`/networks?watch=1&from=${encodeURIComponent(added?.revision ?? '')}`, member.token)
  expect(await again.next()).toMatchObject({ type: 'DELETED', object: { id: second.id } })
  again.close()
})

test("another tenant's changes are not sent", async () => {
  const mine = await watch('/networks?watch=1', member.token)
  const theirs = await watch('/networks?watch=1', stranger)
  const made = await network('secret')
  for (let line = await mine.next(); line?.object?.id !== made.id; line = await mine.next()) expect(line).not.toBeNull()
  await bed.admission.deleteNetwork(made.id)
  expect(await mine.next()).toMatchObject({ type: 'DELETED' })
  await bed.authenticator.tokens.revokeUser(bed.view.list('user').find((user) => user.name === 's')?.id ?? '')
  // The stranger's token is deleted, which ends the stream; the stream contains nothing but this error.
  expect(await theirs.next()).toMatchObject({ type: 'ERROR', error: { code: 'Unauthenticated' } })
  expect(await theirs.next()).toBeNull()
  mine.close()
})

describe('a reader who lost its access', () => {
  const userOf = (id: string) => bed.view.get('user', id)!.value
  const change = (id: string, changed: object) => bed.admission.putUser({ ...userOf(id), ...changed })
  const untilBookmark = async (stream: Awaited<ReturnType<typeof watch>>) => {
    for (let line = await stream.next(true); line?.type !== 'BOOKMARK'; line = await stream.next(true))
      expect(line?.type).toBe('ADDED')
  }

  // In each case only the reader changes: that must end the watch, without waiting for the next bookmark, 10 s later.
  const timeout = 8000
  test.each([
    ['user is disabled', 'Unauthenticated', (id: string) => change(id, { enabled: false })],
    ['user is deleted', 'Unauthenticated', (id: string) => bed.admission.deleteUser(id)],
    ['role on the project is taken away', 'Unauthenticated', (id: string) => change(id, { roles: [] })],
    ['role becomes a lesser one', 'Forbidden', (id: string) => change(id, { roles: [{ projectId, role: 'reader' }] })],
    ['tokens are revoked', 'Unauthenticated', (id: string) => bed.authenticator.tokens.revokeUser(id)],
  ])(
    "gets an error and nothing else, even without changes, once the reader's %s",
    { timeout },
    async (what, code, lose) => {
      const { userId, token } = await bed.login(`reader whose ${what}`, projectId, 'member')
      const stream = await watch('/networks?watch=1', token)
      await untilBookmark(stream)
      await lose(userId)
      expect(await stream.next()).toMatchObject({ type: 'ERROR', error: { code } })
      expect(await stream.next()).toBeNull()
    },
  )

  test('gets an error without that time passes', async () => {
    const own = await openTestBed(new FakeClock())
    const address = await own.app.listen({ host: '127.0.0.1', port: 0 })
    const admin = await own.adminLogin()
    const project = (await own.ask('POST', '/identity/v3/projects', admin, { project: { name: 'p' } })).body.project
    for (const lose of ['disabled', 'deleted'] as const) {
      const { userId, token } = await own.login(`reader who is ${lose}`, project.id, 'member')
      const reply = await fetch(`${address}/api/v1/networks?watch=1`, { headers: { 'x-auth-token': token } })
      const text = reply.text()
      const user = own.view.get('user', userId)!.value
      await (lose === 'deleted' ? own.admission.deleteUser(userId) : own.admission.putUser({ ...user, enabled: false }))
      // The clock does not advance, so only the change can end the watch.
      expect(JSON.parse((await text).trim().split('\n').at(-1) ?? '')).toMatchObject({
        type: 'ERROR',
        error: { code: 'Unauthenticated' },
      })
    }
    await own.close()
  })

  test('gets an error once its application credential is deleted', { timeout }, async () => {
    const owner = await bed.login('owner of a credential', projectId, 'member')
    const made = await bed.ask('POST', `/identity/v3/users/${owner.userId}/application_credentials`, owner.token, {
      application_credential: { name: 'cluster' },
    })
    const { id, secret } = made.body.application_credential
    const issued = await bed.authenticator.loginWithCredential({ id }, secret, '127.0.0.1')
    const stream = await watch('/load-balancers?watch=1', issued.secret)
    await untilBookmark(stream)
    await bed.admission.deleteApplicationCredential(id)
    expect(await stream.next()).toMatchObject({ type: 'ERROR', error: { code: 'Unauthenticated' } })
    expect(await stream.next()).toBeNull()
  })

  test('gets no status that changes after an administrator was demoted', async () => {
    const made = await bed.admission.createLoadBalancer({
      ...{ projectId: otherId, name: 'theirs', description: '', tags: [], enabled: true, listeners: [], pools: [] },
      ...{ vips: [{ from: 'pool', poolId, address: null }], nodeGroupId: null, annotations: {} },
    })
    const { userId, token } = await bed.login('former administrator', projectId, 'admin')
    const stream = await watch('/load-balancers?watch=1', token)
    await untilBookmark(stream)
    const demoted = change(userId, { roles: [{ projectId, role: 'member' }] })
    // In the same turn of the event loop in which the view shows that the user is demoted, before anything else runs.
    const unsubscribe = bed.view.onChange(() => bed.status.set(made.id, { provisioning: 'active', reason: 'Secret' }))
    await demoted
    unsubscribe()
    expect(await stream.next()).toMatchObject({ type: 'ERROR', error: { code: 'Forbidden' } })
    expect(await stream.next()).toBeNull()
    await bed.admission.deleteLoadBalancer(made.id, { cascade: false })
  })

  test('gets an error when its token expires, even without changes', { timeout }, async () => {
    const clock = new FakeClock()
    const own = await openTestBed(clock)
    const address = await own.app.listen({ host: '127.0.0.1', port: 0 })
    const token = await own.adminLogin()
    const reply = await fetch(`${address}/api/v1/nodes?watch=1`, { headers: { 'x-auth-token': token } })
    const text = reply.text()
    await clock.advance(8 * 3_600_000)
    expect(JSON.parse((await text).trim().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'ERROR',
      error: { code: 'TokenExpired' },
    })
    await own.close()
  })
})

test('a changed status is sent as a modified object', async () => {
  const made = await bed.admission.createLoadBalancer({
    ...{ projectId, name: 'web', description: '', tags: [], enabled: true, listeners: [], pools: [] },
    ...{ vips: [{ from: 'pool', poolId, address: null }], nodeGroupId: null, annotations: {} },
  })
  const stream = await watch('/load-balancers?watch=1', member.token)
  expect(await stream.next()).toMatchObject({ type: 'ADDED', object: { status: { reason: 'WaitingForNode' } } })
  bed.status.set(made.id, { provisioning: 'active', reason: 'Programmed' })
  expect(await stream.next()).toMatchObject({
    type: 'MODIFIED',
    object: { id: made.id, status: { reason: 'Programmed' } },
  })
  stream.close()
})

test('a status that changes before the reader took the object is sent after it', async () => {
  const { promise: answer, resolve: open } = Promise.withResolvers<ServerResponse>()
  bed.app.server.prependOnceListener('request', (_, raw) => open(raw))
  const stream = await watch('/load-balancers?watch=1', member.token)
  const raw = await answer
  const { promise: full, resolve: fill } = Promise.withResolvers<string>()
  const write = raw.write.bind(raw)
  // From the first line about the object on, the reader does not read for a while.
  raw.write = (line: string) => {
    write(line)
    const { type, object }: Line = JSON.parse(line)
    if (object?.name !== 'slow') return true
    if (type === 'ADDED') fill(object.id)
    return false
  }
  await bed.admission.createLoadBalancer({
    ...{ projectId, name: 'slow', description: '', tags: [], enabled: true, listeners: [], pools: [] },
    ...{ vips: [{ from: 'pool', poolId, address: null }], nodeGroupId: null, annotations: {} },
  })
  const id = await full
  const waiting = raw.listenerCount('drain')
  for (const reason of ['WaitingForPlan', 'WaitingForAnnouncement'])
    bed.status.set(id, { provisioning: 'pending', reason })
  bed.status.set(id, { provisioning: 'active', reason: 'Programmed' })
  // However many changes came, one line waits for the object.
  expect(raw.listenerCount('drain')).toBe(waiting)
  raw.emit('drain')
  for (let line = await stream.next(); line?.type !== 'MODIFIED'; line = await stream.next())
    expect(line).not.toBeNull()
  stream.close()
})

test('a long object is sent in pieces, and its changes meanwhile in one line after it', async () => {
  const { id: networkId } = await network('of the members')
  const admin = await bed.adminLogin()
  await bed.askNative('POST', `/networks/${networkId}/subnets`, admin, { cidr: '10.9.0.0/24' })
  const members = Array.from({ length: 4000 }, (_, port) => ({ address: '10.9.0.11', port: port + 1 }))
  const created = await bed.askNative('POST', '/load-balancers', member.token, {
    ...{ projectId, name: 'long', vips: [{ from: 'pool', poolId }] },
    pools: [{ name: 'p', protocol: 'tcp', members }],
  })
  expect(created.status, JSON.stringify(created.body).slice(0, 500)).toBe(201)
  const made: { readonly id: string } = created.body
  const { promise: answer, resolve: open } = Promise.withResolvers<ServerResponse>()
  bed.app.server.prependOnceListener('request', (_, raw) => open(raw))
  const stream = await watch('/load-balancers?watch=1', member.token)
  const raw = await answer
  const lengths: number[] = []
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const write = raw.write.bind(raw)
  raw.write = (piece: string) => {
    lengths.push(piece.length)
    if (piece.includes(made.id)) begin()
    return write(piece)
  }
  await begun
  for (const reason of ['WaitingForPlan', 'WaitingForAnnouncement'])
    bed.status.set(made.id, { provisioning: 'pending', reason })
  bed.status.set(made.id, { provisioning: 'active', reason: 'Programmed' })
  const about = async () => {
    for (let line = await stream.next(); line !== null; line = await stream.next())
      if (line.object?.id === made.id) return line
    return null
  }
  expect(await about()).toMatchObject({ type: 'ADDED', object: { pools: [{ members: expect.any(Array) }] } })
  expect(await about()).toMatchObject({ type: 'MODIFIED', object: { status: { reason: 'Programmed' } } })
  await bed.admission.deleteLoadBalancer(made.id, { cascade: true })
  expect(await about()).toMatchObject({ type: 'DELETED' })
  expect(Math.max(...lengths)).toBeLessThan(100_000)
  stream.close()
})

test('an unknown revision ends in Gone', async () => {
  const stream = await watch('/networks?watch=1&from=nonsense', member.token)
  expect(await stream.next()).toMatchObject({ type: 'ERROR', error: { code: 'Gone' } })
  expect(await stream.next()).toBeNull()
})

test('closing the server ends its watches', async () => {
  const other = await openTestBed()
  const address = await other.app.listen({ host: '127.0.0.1', port: 0 })
  const token = await other.adminLogin()
  const reply = await fetch(`${address}/api/v1/nodes?watch=1`, { headers: { 'x-auth-token': token } })
  const text = reply.text()
  await other.close()
  expect(await text).toMatch(/BOOKMARK/)
})
