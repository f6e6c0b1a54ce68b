import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { Transport } from '../transport/transport.ts'
import { LEASES, type Lease } from '../types/index.ts'
import { KubeClient } from '../write/kube-client.ts'
import { LeaderElector, type LeaderElectorOptions } from './leader-elector.ts'

const NAME = { namespace: 'spout', name: 'connector' }
let server: FakeApiServer
let transport: Transport
let client: KubeClient
let clock: FakeClock
let electors: LeaderElector[]
let log: string[]

function elect(identity: string, options: Partial<LeaderElectorOptions> = {}): LeaderElector {
  const elector = new LeaderElector({
    client,
    ...NAME,
    identity,
    clock,
    random: () => 0.5,
    log: silentLogger(),
    onGained: (token) => log.push(`${identity} gained ${token}`),
    onLost: (reason) => log.push(`${identity} lost ${reason}`),
    ...options,
  })
  electors.push(elector)
  elector.start()
  return elector
}

/** Time passes in small steps, and the server gets time to answer in each. */
const until = (what: string, probe: () => boolean, stepMs = 100) =>
  waitFor(() => clock.advance(stepMs).then(probe), { what, everyMs: 1 })
const lease = async (): Promise<Lease> => (await client.get(LEASES, NAME)) as Lease
const isLeader = (elector: LeaderElector) => () => elector.token !== null

/** The server refuses all writes from now on. */
function refuseWrites(): () => void {
  server.faults.push(({ method }, response) => {
    if (method === 'GET') return false
    response.writeHead(503)
    response.end()
    return true
  })
  return () => server.faults.pop()
}

beforeEach(async () => {
  server = await FakeApiServer.start()
  // The transport has time of its own: the fake clock moves faster than answers arrive.
  transport = new Transport({ access: server.access, firstRetryMs: 1 })
  client = new KubeClient(transport)
  clock = new FakeClock()
  electors = []
  log = []
})
afterEach(async () => {
  for (const elector of electors) await elector.stop()
  transport.close()
  await server.stop()
})

it('creates the lease, renews it, and releases it on stop, so that another gets it at once', async () => {
  const first = elect('first')
  await until('a leader', isLeader(first))
  const before = await lease()
  expect(before.spec).toMatchObject({
    holderIdentity: first.holderIdentity,
    leaseDurationSeconds: 15,
    leaseTransitions: 1,
    renewTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  const second = elect('second')
  const fromMs = clock.monotonicMs()
  await until('many renewals', () => clock.monotonicMs() - fromMs > 60_000)
  expect(first.token).toBe(1)
  expect(Date.parse((await lease()).spec?.renewTime ?? '')).toBeGreaterThan(Date.parse(before.spec?.renewTime ?? ''))
  await first.stop()
  const releasedMs = clock.monotonicMs()
  await until('the second', isLeader(second))
  expect(clock.monotonicMs() - releasedMs).toBeLessThan(5000)
  expect(log).toEqual(['first gained 1', 'first lost released', 'second gained 2'])
})

it('gives up before another can take the lease, when it cannot renew', async () => {
  const first = elect('first')
  await until('a leader', isLeader(first))
  const allow = refuseWrites()
  const fromMs = clock.monotonicMs()
  const second = elect('second')
  await until('the loss', () => first.token === null)
  expect(clock.monotonicMs() - fromMs).toBeLessThanOrEqual(10_200)
  expect(log).toEqual(['first gained 1', 'first lost deadline'])
  allow()
  await until('a leader again', () => isLeader(first)() || isLeader(second)())
  expect(log.at(-1)).toMatch(/gained 2$/)
})

it('waits as long as a silent holder may think it leads, whatever its clock says', async () => {
  const foreign = {
    holderIdentity: 'gone',
    leaseDurationSeconds: 15,
    leaseTransitions: 7,
    renewTime: '2001-01-01T00:00:00.000000Z',
  }
  server.put(LEASES, { metadata: NAME, spec: foreign })
  const first = elect('first')
  clock.jump(3_600_000)
  await until('a leader', isLeader(first))
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(15_000)
  expect(clock.monotonicMs()).toBeLessThan(20_000)
  expect(first.token).toBe(8)
})

it('has no token once its time is over, even before a timer runs', async () => {
  const first = elect('first')
  await until('a leader', isLeader(first))
  refuseWrites()
  const late = { monotonicMs: clock.monotonicMs() + 11_000 }
  const monotonicMs = clock.monotonicMs.bind(clock)
  clock.monotonicMs = () => late.monotonicMs
  expect(first.token).toBeNull()
  expect(log).toEqual(['first gained 1'])
  clock.monotonicMs = monotonicMs
})

it('stops when another process holds the lease', async () => {
  const first = elect('first')
  await until('a leader', isLeader(first))
  const now = await lease()
  server.put(LEASES, { ...now, spec: { ...now.spec, holderIdentity: 'thief', leaseTransitions: 2 } })
  await until('the loss', () => first.token === null)
  expect(log).toEqual(['first gained 1', 'first lost taken'])
})

it('goes on when the answer to a renewal got lost', async () => {
  const first = elect('first')
  await until('a leader', isLeader(first))
  let lost = 0
  server.faults.push(({ method, path }, response) => {
    if (method !== 'PUT' || lost++ > 0) return false
    const stored = server.store.get(path) as Lease
    server.put(LEASES, stored)
    response.destroy()
    return true
  })
  await until('the lost answer', () => lost > 3)
  expect(first.token).toBe(1)
  expect(log).toEqual(['first gained 1'])
})

it('releases the lease also when a renewal was under way', async () => {
  const first = elect('first')
  await until('a leader', isLeader(first))
  let taken = false
  server.faults.push(({ method, path }) => {
    if (method !== 'PUT' || taken) return false
    taken = true
    server.put(LEASES, server.store.get(path) as Lease)
    return true
  })
  await until('a renewal without an answer', () => taken)
  await first.stop()
  expect((await lease()).spec?.holderIdentity).toBe('')
})

it('never uses a token twice, even when the lease is deleted', async () => {
  const first = elect('first', { lowestToken: 40 })
  await until('a leader', isLeader(first))
  expect(first.token).toBe(41)
  server.delete(LEASES, NAME)
  await until('the loss', () => first.token === null)
  await until('a leader again', isLeader(first))
  expect(first.token).toBe(42)
  expect((await lease()).spec?.leaseTransitions).toBe(42)
})

it.each([
  [{ leaseSeconds: 0.5 }, 'leaseSeconds'],
  [{ leaseSeconds: 10 }, 'renewDeadlineMs: must be below leaseSeconds'],
  [{ renewDeadlineMs: 2000 }, 'retryMs'],
])('refuses durations that contradict each other: %j', (options, message) => {
  expect(() => elect('x', options)).toThrow(message)
})
