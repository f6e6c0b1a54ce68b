import type { ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../test-bed.ts'

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
let member: { userId: string; token: string }
let stranger: string

beforeAll(async () => {
  bed = await openTestBed()
  url = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = await bed.login('m', projectId, 'member')
  const pool = await bed.admission.createAddressPool({
    ...{ name: 'p', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '198.51.100.1', last: '198.51.100.9' }],
  })
  poolId = pool.id
  stranger = (await bed.login('s', other, 'member')).token
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

test('what exists, then what happens, and again from where it ended', async () => {
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

test("another tenant's changes are not told", async () => {
  const mine = await watch('/networks?watch=1', member.token)
  const theirs = await watch('/networks?watch=1', stranger)
  const made = await network('secret')
  for (let line = await mine.next(); line?.object?.id !== made.id; line = await mine.next()) expect(line).not.toBeNull()
  await bed.admission.deleteNetwork(made.id)
  expect(await mine.next()).toMatchObject({ type: 'DELETED' })
  await bed.authenticator.revokeUser(bed.view.list('user').find((user) => user.name === 's')?.id ?? '')
  await network('after')
  // The stranger's token is gone, so the first change ends the stream: all it ever told is that.
  expect(await theirs.next()).toMatchObject({ type: 'ERROR', error: { code: 'Unauthenticated' } })
  expect(await theirs.next()).toBeNull()
  mine.close()
})

test('a status that changes is told as the object modified', async () => {
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

test('a status that changes while the reader has not taken the object yet is told after it', async () => {
  const { promise: answer, resolve: open } = Promise.withResolvers<ServerResponse>()
  bed.app.server.prependOnceListener('request', (_, raw) => open(raw))
  const stream = await watch('/load-balancers?watch=1', member.token)
  const raw = await answer
  const { promise: full, resolve: fill } = Promise.withResolvers<string>()
  const write = raw.write.bind(raw)
  // A reader that takes nothing for a while, from the first line about the object.
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
  // However many lines wait, it is for one and the same thing.
  expect(raw.listenerCount('drain')).toBe(waiting)
  raw.emit('drain')
  for (let line = await stream.next(); line?.type !== 'MODIFIED'; line = await stream.next())
    expect(line).not.toBeNull()
  stream.close()
})

test('a revision nobody knows ends in Gone', async () => {
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
