import { describe, expect, test } from 'vitest'
import type { Lease } from '../leases/leases.ts'
import type { CommitOptions } from '../store.ts'
import { codeOf, put, type Subject } from './subject.ts'

const TTL_MS = 3000

/** What leases promise. */
export function describeLeases(subject: () => Subject): void {
  const claim = (holder: string, name = 'leader'): Promise<Lease> =>
    subject().store.leases.claim({ name, holder, ttlMs: TTL_MS })

  describe('leases', () => {
    test('who asks first has it, and the others are told who', async () => {
      const first = await claim('a')
      expect(first).toEqual({ name: 'leader', holder: 'a', token: expect.any(Number) })
      expect(await claim('b')).toEqual(first)
      expect(await claim('b', 'other')).toMatchObject({ name: 'other', holder: 'b' })
    })

    test('of many that ask at once one has it', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(`holder-${n}`)))
      expect(new Set(answers.map(({ holder, token }) => `${holder} ${token}`)).size).toBe(1)
    })

    test('renewed in time it stays, with its token', async () => {
      const { clock } = subject()
      const first = await claim('a')
      for (let n = 0; n < 3; n++) {
        clock.stall(TTL_MS - 1)
        expect(await claim('b')).toEqual(first)
        expect(await claim('a')).toEqual(first)
      }
    })

    test('not renewed it goes to the next that asks, with a greater token', async () => {
      const { clock } = subject()
      const first = await claim('a')
      clock.stall(TTL_MS)
      const second = await claim('b')
      expect(second.holder).toBe('b')
      expect(second.token).toBeGreaterThan(first.token)
      expect(await claim('a')).toEqual(second)
    })

    test('renewed late it stays if nobody took it meanwhile', async () => {
      const { clock } = subject()
      const first = await claim('a')
      clock.stall(10 * TTL_MS)
      expect(await claim('a')).toEqual(first)
      expect(await claim('b')).toEqual(first)
    })

    test('given up it goes to the next at once; what was lost is not given up again', async () => {
      const { leases } = subject().store
      const first = await claim('a')
      await leases.release(first)
      const second = await claim('b')
      expect(second.holder).toBe('b')
      expect(second.token).toBeGreaterThan(first.token)
      await leases.release(first)
      expect(await claim('c')).toEqual(second)
      await leases.release(second)
      expect((await claim('b')).token).toBeGreaterThan(second.token)
    })

    test('a commit under a lease that is held is accepted, also after its time', async () => {
      const { store, clock } = subject()
      const lease = await claim('a')
      expect(await codeOf(store.commit([put('a')], { lease }))).toBe('accepted')
      clock.stall(10 * TTL_MS)
      expect(await codeOf(store.commit([put('a', 2)], { lease }))).toBe('accepted')
    })

    test('a commit under a lease that another took, or that was given up, is refused and stores nothing', async () => {
      const { store, clock, changesSince } = subject()
      const first = await claim('a')
      clock.stall(TTL_MS)
      const second = await claim('b')
      const before = await store.revision()
      await expect(store.commit([put('late')], { lease: first })).rejects.toThrow('Lease leader is lost: b has it')
      expect(await codeOf(store.commit([put('late')], { lease: first }))).toBe('LeaseLost')
      await store.leases.release(second)
      expect(await codeOf(store.commit([put('late')], { lease: second }))).toBe('LeaseLost')
      expect(await changesSince(before)).toEqual([])
      expect(await store.get('node', 'late')).toBeNull()
    })

    test('a commit that is refused for its lease fails no other', async () => {
      const { store, clock } = subject()
      const first = await claim('a')
      clock.stall(TTL_MS)
      const second = await claim('b')
      const options: readonly CommitOptions[] = [{ lease: first }, { lease: second }, {}, { lease: first }]
      const codes = await Promise.all(options.map((each, n) => codeOf(store.commit([put(`o${n}`)], each))))
      expect(codes).toEqual(['LeaseLost', 'accepted', 'accepted', 'LeaseLost'])
      expect((await store.list('node')).items.map(({ id }) => id)).toEqual(['o1', 'o2'])
    })

    test('a new holder sees whatever the earlier one wrote: nothing comes later', async () => {
      const { store, clock } = subject()
      const first = await claim('a')
      const commits = Array.from({ length: 200 }, (_, n) => codeOf(store.commit([put(`o${n}`)], { lease: first })))
      // Some are under way then.
      await Promise.race(commits)
      for (let n = 200; n < 400; n++) commits.push(codeOf(store.commit([put(`o${n}`)], { lease: first })))
      clock.stall(TTL_MS)
      await claim('b')
      const seen = await store.list('node')
      const accepted = (await Promise.all(commits)).filter((code) => code === 'accepted')
      expect(await store.list('node')).toEqual(seen)
      expect(seen.items).toHaveLength(accepted.length)
    })

    test('after a restart nobody has it, or it lasts as long as before; a token is not below what was stored', async ({
      skip,
    }) => {
      const { store, reopen, keepsLeases, clock } = subject()
      const first = await claim('a')
      await store.commit([put('a'), put('b')], { lease: first })
      const again = await reopen()
      if (again === null) return skip('nothing outlives it')
      const asked = { name: 'leader', holder: 'b', ttlMs: TTL_MS }
      if (keepsLeases) {
        expect(await again.store.leases.claim(asked)).toEqual(first)
        clock.stall(TTL_MS)
      }
      const second = await again.store.leases.claim(asked)
      expect(second.holder).toBe('b')
      expect(second.token).toBeGreaterThan(first.token)
    })
  })
}
