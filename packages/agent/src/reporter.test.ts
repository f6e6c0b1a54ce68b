import type { EntryReport, MemberHealth, NodeReport, ServiceStats } from '@spout/model/node-report'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Reporter } from './reporter.ts'

const entry = (key: string, hash = 'h'): EntryReport => ({
  key,
  hash,
  state: 'programmed',
  reason: null,
  message: null,
  announced: [],
})

const member = (memberId: string, health: MemberHealth['health']): MemberHealth => ({
  loadBalancerId: 'a',
  poolId: 'p',
  memberId,
  health,
  reason: null,
  since: '2026-01-01T00:00:00.000Z',
})

const stats = (bytesIn: number): ServiceStats => ({
  loadBalancerId: 'a',
  listenerId: 'l',
  bytesIn,
  bytesOut: 0,
  activeConnections: 0,
  totalConnections: 0,
  requestErrors: 0,
})

/** A control plane that answers when the test says so. */
class Peer {
  readonly clock = new FakeClock()
  readonly reports: NodeReport[] = []
  readonly reporter: Reporter
  resend = false
  down = false
  gate: Promise<void> = Promise.resolve()

  constructor() {
    this.reporter = new Reporter({
      session: 's',
      features: () => ['l4.tcp'],
      send: async (report) => {
        await this.gate
        if (this.down) throw new Error('connection refused')
        this.reports.push(report)
        const { resend } = this
        this.resend = false
        return { resend }
      },
      clock: this.clock,
      log: silentLogger(),
    })
  }

  /** The entries that a control plane has after it merged these reports. */
  known(): Record<string, string> {
    const known = new Map<string, string>()
    for (const report of this.reports) {
      for (const { key, hash } of report.entries) known.set(key, hash)
      for (const key of report.removed) known.delete(key)
    }
    return Object.fromEntries([...known].sort())
  }
}

test('counts reports that arrived and failed', async () => {
  const peer = new Peer()
  const { reporter } = peer
  reporter.entry(entry('lb/a'))
  reporter.entry({ ...entry('lb/b'), state: 'failed' })
  reporter.member(member('m1', 'up'))
  reporter.member(member('m2', 'down'))
  expect(reporter.figures()).toMatchObject({ inSync: false, reports: { arrived: 0, failed: 0 }, lastReportAtMs: null })
  reporter.start()
  await expect.poll(() => reporter.figures().reports).toEqual({ arrived: 1, failed: 0 })
  reporter.removed('lb/b')
  reporter.inSync(true)
  await expect.poll(() => reporter.figures().reports.arrived).toBeGreaterThan(1)
  expect(reporter.figures()).toMatchObject({
    ...{ inSync: true, entries: { programmed: 1, failed: 0 }, members: { up: 1, down: 1, unknown: 0 } },
    lastReportAtMs: peer.clock.now().getTime(),
  })
  peer.down = true
  reporter.entry(entry('lb/c'))
  await expect.poll(() => reporter.figures().reports.failed).toBe(1)
  await reporter.stop()
})

test("what is of the node's own settings is counted, and never reported", async () => {
  const peer = new Peer()
  const { reporter } = peer
  const own = { loadBalancerId: 'local-api', poolId: 'local-api' }
  const shard = { state: 'master', since: '', takeovers: 0, lastMove: null } as const
  const tellAll = () => {
    for (const key of ['lb/a', 'lb/local-api', 'domain/16000001', 'lb/local-b']) reporter.entry(entry(key))
    for (const one of [{}, own]) reporter.member({ ...member('m1', 'up'), ...one })
    reporter.stats([stats(1), { ...stats(2), loadBalancerId: 'local-api', listenerId: 'local-api' }])
    reporter.removed('lb/local-b')
    reporter.tell({ shards: [1, 17].map((number) => ({ ...shard, number })) })
  }
  tellAll()
  reporter.start()
  await peer.clock.advance(0)
  peer.resend = true
  reporter.inSync(true)
  await expect.poll(() => peer.reports.length).toBeGreaterThan(2)
  expect(JSON.stringify(peer.reports)).not.toMatch(/local-|16000001|"number":17/)
  expect(peer.known()).toEqual({ 'lb/a': 'h' })
  expect(reporter.figures()).toMatchObject({ entries: { programmed: 3 }, members: { up: 2 }, shards: { master: 2 } })
  await reporter.stop()
})

test('without a control plane nothing is sent', async () => {
  const reporter = new Reporter({
    ...{ session: 's', features: () => [], send: null, clock: new FakeClock(), log: silentLogger() },
  })
  reporter.entry(entry('lb/local-api'))
  reporter.start()
  await reporter.stop()
  expect(reporter.figures()).toMatchObject({ entries: { programmed: 1 }, reports: { arrived: 0, failed: 0 } })
})

test('a change is reported at once, and otherwise every heartbeat', async () => {
  const peer = new Peer()
  peer.reporter.start()
  await peer.clock.advance(0)
  expect(peer.reports).toHaveLength(1)
  peer.reporter.entry(entry('lb/a'))
  await peer.clock.advance(0)
  expect(peer.reports[1]?.entries).toEqual([entry('lb/a')])
  await peer.clock.advance(3000)
  expect(peer.reports).toHaveLength(5)
  expect(peer.reports.map((report) => report.sequence)).toEqual([1, 2, 3, 4, 5])
  expect(peer.reports.slice(2).every((report) => report.entries.length === 0)).toBe(true)
  await peer.reporter.stop()
})

test('what changes while a report is under way is merged into the next', async () => {
  const peer = new Peer()
  let open = () => {}
  peer.gate = new Promise((resolve) => {
    open = resolve
  })
  peer.reporter.start()
  await peer.clock.advance(0)
  for (let hash = 0; hash < 100; hash++) peer.reporter.entry(entry('lb/a', String(hash)))
  peer.reporter.entry(entry('lb/b'))
  peer.reporter.removed('lb/b')
  peer.reporter.member(member('m', 'down'))
  peer.reporter.member(member('m', 'up'))
  open()
  await peer.clock.advance(0)
  expect(peer.reports).toHaveLength(2)
  expect(peer.reports[1]).toMatchObject({
    entries: [entry('lb/a', '99')],
    removed: ['lb/b'],
    members: [member('m', 'up')],
  })
  await peer.reporter.stop()
})

test('what did not arrive is reported again, in its newest state', async () => {
  const peer = new Peer()
  peer.down = true
  peer.reporter.start()
  peer.reporter.entry(entry('lb/a', '1'))
  peer.reporter.stats([stats(1)])
  await peer.clock.advance(0)
  peer.reporter.entry(entry('lb/a', '2'))
  peer.down = false
  await peer.clock.advance(1000)
  expect(peer.reports[0]).toMatchObject({ entries: [entry('lb/a', '2')], stats: [stats(1)] })
  await peer.reporter.stop()
})

test('it reports everything on request, and is in sync only when all is reported', async () => {
  const peer = new Peer()
  for (let index = 0; index < 5000; index++) peer.reporter.entry(entry(`lb/${index}`))
  peer.reporter.inSync(true)
  peer.reporter.start()
  await peer.clock.advance(0)
  expect(peer.reports.map((report) => [report.entries.length, report.inSync])).toEqual([
    ...Array.from({ length: 9 }, () => [500, false]),
    [500, true],
  ])
  peer.reports.length = 0
  peer.resend = true
  await peer.clock.advance(1000)
  expect(Object.keys(peer.known())).toHaveLength(5000)
  expect(peer.reports.at(-1)?.inSync).toBe(true)
  await peer.reporter.stop()
})

test('counters travel with the heartbeat, and only those that changed', async () => {
  const peer = new Peer()
  peer.reporter.start()
  await peer.clock.advance(0)
  peer.reporter.stats([stats(5)])
  await peer.clock.advance(500)
  expect(peer.reports).toHaveLength(1)
  await peer.clock.advance(500)
  peer.reporter.stats([stats(5)])
  await peer.clock.advance(1000)
  expect(peer.reports.map((report) => report.stats.length)).toEqual([0, 1, 0])
  await peer.reporter.stop()
})

test('durations of many pools and routes go in several reports, and hold up no other counters', async () => {
  const peer = new Peer()
  peer.reporter.start()
  await peer.clock.advance(0)
  const latencies = Array.from({ length: 200 }, (_, bucket) => [bucket, 1] as const)
  const responses = { '1xx': 0, '2xx': 200, '3xx': 0, '4xx': 0, '5xx': 0 }
  const routes = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`route-${at}`, { latencies, responses }]))
  const http = { requests: 1, responses, latencies, parts: { pools: {}, routes } }
  const large = ['first', 'second', 'third'].map((listenerId) => ({ ...stats(5), listenerId, http }))
  peer.reporter.stats([...large, { ...stats(5), listenerId: 'small' }])
  await peer.clock.advance(1000)
  await peer.clock.advance(1000)
  // The first has new counts before its next turn, and waits behind the others.
  peer.reporter.stats([{ ...large[0]!, bytesIn: 6 }])
  await peer.clock.advance(1000)
  await peer.clock.advance(1000)
  await peer.clock.advance(1000)
  const told = peer.reports.map((report) => report.stats.map(({ listenerId }) => listenerId))
  expect(told).toEqual([[], ['first', 'small'], ['second'], ['third'], ['first'], []])
  for (const report of peer.reports) expect(JSON.stringify(report).length).toBeLessThan(500_000)
  await peer.reporter.stop()
})

test('after any losses and requests the control plane has the current state', async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('entry' as const),
      key: fc.constantFrom('a', 'b', 'c'),
      hash: fc.constantFrom('1', '2', '3'),
    }),
    fc.record({ do: fc.constant('removed' as const), key: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('lose' as const), down: fc.boolean() }),
    fc.record({ do: fc.constant('resend' as const) }),
    fc.record({ do: fc.constant('wait' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const peer = new Peer()
      const truth = new Map<string, string>()
      peer.reporter.start()
      for (const one of steps) {
        if (one.do === 'entry') {
          truth.set(one.key, one.hash)
          peer.reporter.entry(entry(one.key, one.hash))
        } else if (one.do === 'removed') {
          truth.delete(one.key)
          peer.reporter.removed(one.key)
        } else if (one.do === 'lose') peer.down = one.down
        else if (one.do === 'resend') peer.resend = true
        else await peer.clock.advance(700)
      }
      peer.down = false
      await peer.clock.advance(5000)
      expect(peer.known()).toEqual(Object.fromEntries([...truth].sort()))
      await peer.reporter.stop()
    }),
    { numRuns: 50 },
  )
})
