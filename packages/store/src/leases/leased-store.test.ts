import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { codeOf, put } from '../conformance/subject.ts'
import { MemoryStore } from '../memory/memory-store.ts'
import { LeasedStore } from './leased-store.ts'

test('while a process has a lease, its commits are refused once another has it', async () => {
  const clock = new FakeClock()
  const store = new MemoryStore({ clock })
  const leased = new LeasedStore(store)
  const lost: string[] = []
  const claim = (holder: string) => leased.leases.claim({ name: 'leader', holder, ttlMs: 1000 })
  expect(await codeOf(leased.commit([put('before')]))).toBe('accepted')

  leased.fence(await claim('a'), () => lost.push('a'))
  expect(await codeOf(leased.commit([put('a')]))).toBe('accepted')
  expect(await codeOf(leased.commit([put('a', 1, { ifRevision: 'absent' })]))).toBe('AlreadyExists')
  expect(lost).toEqual([])

  clock.stall(1000)
  await claim('b')
  expect(await codeOf(leased.commit([put('late')]))).toBe('LeaseLost')
  expect(lost).toEqual(['a'])
  expect((await leased.list('node')).items.map(({ id }) => id)).toEqual(['a', 'before'])

  leased.unfence()
  expect(await codeOf(leased.commit([put('after')]))).toBe('accepted')
  await leased.close()
  expect(store.health().writable).toBe(false)
})
