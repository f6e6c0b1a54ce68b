import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { Transport } from '../transport/transport.ts'
import { SERVICES, type Service } from '../types/index.ts'
import type { DeletionGuard, DeletionGuardReason } from './deletion-guard.ts'
import { Reflector } from './reflector.ts'
import type { ReflectorOptions } from './reflector-options.ts'

let server: FakeApiServer
let transport: Transport
let reflector: Reflector<Service, number>
let told: string[]
let guards: (DeletionGuardReason | null)[]

const put = (name: string, port = 80) =>
  server.put(SERVICES, { metadata: { name, namespace: 'a' }, spec: { ports: [{ port }] } })

async function reflect(options: Partial<ReflectorOptions<Service, number>> = {}): Promise<void> {
  reflector = new Reflector<Service, number>({
    transport,
    log: silentLogger(),
    resource: SERVICES,
    trim: ({ spec }) => spec.ports?.[0]?.port ?? 0,
    firstRetryMs: 2,
    maxRetryMs: 20,
    relistJitterMs: 1,
    ...options,
  })
  told = []
  guards = []
  reflector.onChange((key) => told.push(key))
  reflector.onDeletionGuard((guard: DeletionGuard | null) => guards.push(guard?.reason ?? null))
  reflector.start()
  await reflector.synced
  await untilWatching()
  told.length = 0
}
const untilWatching = () => waitFor(() => server.watchers > 0, { what: 'a watch' })
const untilHeld = (reason: DeletionGuardReason) =>
  waitFor(() => reflector.deletionGuard?.reason === reason, { what: `guard ${reason}` })
const untilSettled = () => waitFor(() => reflector.deletionGuard === null, { what: 'no guard' })

/** Deletes all but some objects, and compacts the history. */
function loseAllBut(...names: string[]): void {
  server.stallWatches()
  for (const { metadata } of server.store.list('/api/v1/services'))
    if (!names.includes(metadata.name)) server.delete(SERVICES, { namespace: 'a', name: metadata.name })
  server.store.compact()
  server.cutWatches()
}

beforeEach(async () => {
  server = await FakeApiServer.start()
  transport = new Transport({ access: server.access, firstRetryMs: 2, maxRetryMs: 20 })
  for (let index = 0; index < 10; index++) put(`s${index}`)
})
afterEach(async () => {
  await reflector.close()
  transport.close()
  await server.stop()
})

describe('an implausible list', () => {
  it('that is empty deletes nothing until it is confirmed', async () => {
    await reflect()
    loseAllBut()
    await untilHeld('empty')
    await untilWatching()
    expect(told).toEqual([])
    expect(reflector.size).toBe(10)
    expect(reflector.isHeld('a/s3')).toBe(true)
    expect(reflector.deletionGuard?.heldKeys.size).toBe(10)
    reflector.confirm()
    expect(told).toHaveLength(10)
    expect(reflector.size).toBe(0)
    expect(guards).toEqual(['empty', null])
  })

  it('still brings new and changed objects, and real deletions', async () => {
    await reflect()
    loseAllBut('s0', 's1')
    await untilHeld('shrunk')
    await untilWatching()
    put('new')
    put('s0', 81)
    server.delete(SERVICES, { namespace: 'a', name: 's1' })
    await waitFor(() => told.includes('a/s1'), { what: 'the deletion' })
    expect(told).toEqual(['a/new', 'a/s0', 'a/s1'])
    expect(reflector.size).toBe(10)
    expect(reflector.isHeld('a/s1')).toBe(false)
  })

  it('is settled when everything comes back, in whatever version', async () => {
    await reflect()
    loseAllBut()
    await untilHeld('empty')
    await untilWatching()
    for (let index = 0; index < 10; index++) put(`s${index}`, index === 0 ? 81 : 80)
    await untilSettled()
    // With other UIDs: each is another object now.
    expect(told).toHaveLength(10)
    expect(reflector.get('a/s0')).toBe(81)
  })

  it('counts once enough lists agree for long enough', async () => {
    const clock = new FakeClock()
    await reflect({ clock, deletionGuard: { confirmLists: 3, confirmAfterMs: 30_000 } })
    loseAllBut('s0')
    // The reflector's own pauses pass as well.
    await waitFor(() => clock.advance(100).then(() => reflector.deletionGuard !== null), { what: 'the guard' })
    const from = clock.monotonicMs()
    await waitFor(() => clock.advance(1000).then(() => reflector.deletionGuard === null), {
      what: 'the belief',
      everyMs: 1,
    })
    expect(clock.monotonicMs() - from).toBeGreaterThanOrEqual(29_000)
    expect(reflector.counters.listsByCause.deletionGuard).toBeGreaterThanOrEqual(2)
    expect(reflector.size).toBe(1)
    expect(told).toHaveLength(9)
  })

  it('at the start is compared with the known keys', async () => {
    loseAllBut('s0')
    await reflect({ knownKeys: ['a/s0', 'a/s1', 'a/s2', 'a/s3'] })
    expect(reflector.deletionGuard?.reason).toBe('shrunk')
    expect(reflector.isHeld('a/s1')).toBe(true)
    expect(reflector.isHeld('a/s0')).toBe(false)
    expect(reflector.get('a/s1')).toBeUndefined()
    reflector.confirm()
    expect(told.sort()).toEqual(['a/s1', 'a/s2', 'a/s3'])
    expect(reflector.isHeld('a/s1')).toBe(false)
  })
})

describe('a server restored from a backup', () => {
  it('deletes nothing for missing objects, however few, and follows the new history', async () => {
    const backup = server.store.snapshot()
    await reflect()
    put('since')
    put('s0', 81)
    await waitFor(() => told.length === 2, { what: 'the events' })
    told.length = 0
    server.store.restore(backup)
    server.cutWatches()
    await untilHeld('history')
    await untilWatching()
    expect(reflector.get('a/since')).toBe(80)
    expect(reflector.isHeld('a/since')).toBe(true)
    expect(told).toEqual(['a/s0'])
    expect(reflector.get('a/s0')).toBe(80)
    // The same versions as before stand for other things now.
    put('s1', 82)
    put('s2', 83)
    await waitFor(() => told.length === 3, { what: 'the events of the new history' })
    expect([reflector.get('a/s1'), reflector.get('a/s2')]).toEqual([82, 83])
    expect(reflector.counters.listsByCause.history).toBe(1)
    reflector.confirm()
    expect(reflector.get('a/since')).toBeUndefined()
    expect(told.at(-1)).toBe('a/since')
  })

  it('is noticed by a bookmark too', async () => {
    await reflect()
    server.bookmark(server.store.version - 5)
    await waitFor(() => reflector.counters.lists === 2, { what: 'the list' })
    expect(reflector.counters.listsByCause.history).toBe(1)
    // Nothing is missing: nothing to hold.
    expect(reflector.deletionGuard).toBeNull()
  })
})

describe('another cluster at the same address', () => {
  it('is ignored, its objects and its absences, until it goes away', async () => {
    await reflect()
    const ours = reflector.clusterUid
    server.becomeAnotherCluster('other')
    loseAllBut('s0')
    put('foreign')
    await untilHeld('other-cluster')
    expect(reflector.size).toBe(10)
    expect(told).toEqual([])
    expect(reflector.clusterUid).toBe(ours)
    expect(reflector.deletionGuard?.heldKeys.size).toBe(10)
  })

  it('is taken whole once an operator confirms', async () => {
    await reflect()
    server.becomeAnotherCluster('other')
    loseAllBut('s0')
    put('foreign')
    await untilHeld('other-cluster')
    reflector.confirm()
    await untilSettled()
    await waitFor(() => reflector.size === 2, { what: 'the list of the other' })
    expect(reflector.clusterUid).toBe('other')
    expect([...reflector.list()].map(([key]) => key).sort()).toEqual(['a/foreign', 'a/s0'])
    expect(reflector.counters.listsByCause.confirmed).toBe(1)
  })

  it('is detected by the UID known from before the start', async () => {
    reflector = new Reflector<Service, number>({
      transport,
      log: silentLogger(),
      resource: SERVICES,
      trim: () => 0,
      knownClusterUid: 'remembered',
    }).start()
    await untilHeld('other-cluster')
    expect(reflector.hasSynced).toBe(false)
    expect(reflector.size).toBe(0)
  })

  it('cannot be detected without the right to read kube-system', async () => {
    server.faults.push(({ path }, response) => {
      if (!path.endsWith('/kube-system')) return false
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end('{"kind":"Status","code":403,"reason":"Forbidden"}')
      return true
    })
    await reflect()
    expect(reflector.clusterUid).toBeNull()
    expect(reflector.size).toBe(10)
  })
})
