import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { type Lease, LeasedStore, type Leases, MemoryStore, type Store } from '@spout/store'
import { expect, test } from 'vitest'
import { holderOf, urlOfHolder } from './holder.ts'
import { ASK_EVERY_MS, LEASE_MS, Leadership } from './leadership.ts'

/** A process that may lead: its part is a loop that ticks. */
class Process {
  readonly clock = new FakeClock()
  readonly store: LeasedStore
  readonly leadership: Leadership
  /** What its part did. */
  readonly seen: string[] = []
  failure: Error | null = null
  /** Whether the store answers its claims. */
  answered = true
  #ticks = 0

  constructor(holder: string, shared: Store) {
    const leases: Leases = {
      claim: (claim) => (this.answered ? shared.leases.claim(claim) : new Promise<Lease>(() => {})),
      release: (lease) => shared.leases.release(lease),
    }
    this.store = new LeasedStore(withLeases(shared, leases))
    this.leadership = new Leadership({
      ...{ store: this.store, lease: 'control-plane', holder, clock: this.clock, log: silentLogger() },
      lead: async () => {
        if (this.failure !== null) throw this.failure
        this.seen.push('started')
        let timer = this.clock.setTimer(() => {}, 0)
        const tick = () => {
          this.#ticks++
          timer = this.clock.setTimer(tick, 100)
        }
        tick()
        return async () => {
          timer.clear()
          this.seen.push('stopped')
        }
      },
    })
  }

  write(id: string): Promise<unknown> {
    return this.store.commit([{ op: 'put', kind: 'node', id, scope: null, value: {} }])
  }

  /** Whether its part ticks while its clock goes on. */
  async ticks(): Promise<boolean> {
    const before = this.#ticks
    await this.clock.advance(200)
    return this.#ticks > before
  }
}

const withLeases = (store: Store, leases: Leases): Store =>
  new Proxy(store, {
    get: (target, name) => {
      if (name === 'leases') return leases
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })

function cluster() {
  const clock = new FakeClock()
  const store = new MemoryStore({ clock })
  return { clock, store, a: new Process('a', store), b: new Process('b', store) }
}

test('the first leads as soon as it has started, another follows, and takes over at once when the first stops', async () => {
  const { a, b } = cluster()
  await a.leadership.start()
  await b.leadership.start()
  expect([a.leadership.leads, b.leadership.leads, b.leadership.follows]).toEqual([true, false, true])
  expect(b.leadership.leader?.holder).toBe('a')
  expect([await a.ticks(), await b.ticks()]).toEqual([true, false])
  // The question for the lease is all that waits.
  expect(b.clock.timers).toBe(1)

  await a.leadership.stop()
  expect([a.seen, a.clock.timers]).toEqual([['started', 'stopped'], 0])
  await b.clock.advance(ASK_EVERY_MS)
  expect([b.leadership.leads, await b.ticks()]).toEqual([true, true])
  await b.leadership.stop()
})

test('a leader that stands still loses to another: its late write is refused, its part stops, and it may lead again', async () => {
  const { clock, store, a, b } = cluster()
  await a.leadership.start()
  await b.leadership.start()
  await a.write('in-time')
  clock.stall(LEASE_MS)
  await b.clock.advance(ASK_EVERY_MS)
  expect([a.leadership.leads, b.leadership.leads]).toEqual([true, true])

  await expect(a.write('late')).rejects.toMatchObject({ code: 'LeaseLost' })
  expect(await store.get('node', 'late')).toBeNull()
  expect([await a.ticks(), a.seen, a.clock.timers]).toEqual([false, ['started', 'stopped'], 1])
  expect([a.leadership.leads, await b.ticks()]).toEqual([false, true])
  // It writes as every process may, without leading.
  await a.write('as-follower')

  await b.leadership.stop()
  await a.clock.advance(ASK_EVERY_MS)
  expect([a.leadership.leads, await a.ticks(), await b.ticks()]).toEqual([true, true, false])
  expect(a.seen).toEqual(['started', 'stopped', 'started'])
  await a.write('leads-again')
  await a.leadership.stop()
})

test('after a standstill it goes on if nobody took the lease', async () => {
  const { clock, a } = cluster()
  await a.leadership.start()
  const { token } = a.leadership.leader!
  clock.stall(10 * LEASE_MS)
  a.clock.stall(10 * LEASE_MS)
  await a.clock.advance(1)
  expect(a.leadership.leader?.token).toBe(token)
  expect(a.seen).toEqual(['started'])
  await a.leadership.stop()
})

test('it stops leading when the store has not answered for as long as the lease lasts', async () => {
  const { a } = cluster()
  await a.leadership.start()
  a.answered = false
  await a.clock.advance(LEASE_MS - 300)
  expect(await a.ticks()).toBe(true)
  await a.clock.advance(ASK_EVERY_MS)
  expect([a.seen, a.leadership.leads, a.leadership.leader]).toEqual([['started', 'stopped'], false, null])
  a.answered = true
  await a.clock.advance(2 * ASK_EVERY_MS)
  expect(a.seen).toEqual(['started', 'stopped', 'started'])
  await a.leadership.stop()
})

test('whose part does not start lets others lead, and tries again', async () => {
  const { a, b } = cluster()
  await a.leadership.start()
  await b.leadership.start()
  b.failure = new Error('port in use')
  await a.leadership.stop()
  await b.clock.advance(ASK_EVERY_MS)
  expect([b.leadership.leads, b.leadership.leader]).toEqual([false, null])
  b.failure = null
  await b.clock.advance(ASK_EVERY_MS)
  expect(b.leadership.leads).toBe(true)
  await b.leadership.stop()
})

test('a first start whose part does not start fails, and holds no lease', async () => {
  const { a, b } = cluster()
  a.failure = new Error('port in use')
  await expect(a.leadership.start()).rejects.toThrow('port in use')
  expect(a.clock.timers).toBe(0)
  await b.leadership.start()
  expect(b.leadership.leads).toBe(true)
  await b.leadership.stop()
})

test('it is sure to lead only until the lease can have run out, counted from when it was asked for', async () => {
  const { a } = cluster()
  expect(a.leadership.leadsForSure).toBe(false)
  await a.leadership.start()
  expect(a.leadership.leadsForSure).toBe(true)
  a.clock.stall(LEASE_MS - 1)
  expect(a.leadership.leadsForSure).toBe(true)
  // It stands still for longer: another may lead, and has not been heard of.
  a.clock.stall(1)
  expect([a.leadership.leads, a.leadership.leadsForSure]).toEqual([true, false])
  await a.clock.advance(1)
  expect(a.leadership.leadsForSure).toBe(true)
  await a.leadership.stop()
  expect(a.leadership.leadsForSure).toBe(false)
})

test('the name of a holder says where it is reached, if it said so', () => {
  expect(urlOfHolder(holderOf('cp1-5f0c44aa', 'https://cp1.example:9133'))).toBe('https://cp1.example:9133')
  expect([urlOfHolder(holderOf('cp1-5f0c44aa', '')), urlOfHolder('')]).toEqual([null, null])
})
