import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../clock/fake-clock.ts'
import { WorkQueue } from './work-queue.ts'

const drain = async (queue: WorkQueue, count: number): Promise<string[]> => {
  const keys: string[] = []
  for (let taken = 0; taken < count; taken++) {
    const key = await queue.take()
    if (key === null) break
    keys.push(key)
    queue.done(key, 'ok')
  }
  return keys
}

describe('WorkQueue', () => {
  test('a key added twice is worked on once', async () => {
    const queue = new WorkQueue()
    queue.add('a')
    queue.add('a')
    expect(queue.waiting).toBe(1)
    expect(await drain(queue, 1)).toEqual(['a'])
    expect(queue.size).toBe(0)
  })

  test('groups take turns, however long one is', async () => {
    const queue = new WorkQueue()
    for (const key of ['n1', 'n2', 'n3', 'n4']) queue.add(key, 'noisy')
    queue.add('q1', 'quiet')
    expect(await drain(queue, 5)).toEqual(['n1', 'q1', 'n2', 'n3', 'n4'])
  })

  test('a key in work is not given out again until it is done', async () => {
    const queue = new WorkQueue()
    queue.add('a')
    expect(await queue.take()).toBe('a')
    queue.add('a')
    expect(queue.waiting).toBe(0)
    queue.done('a', 'ok')
    expect(await queue.take()).toBe('a')
  })

  test('what was added before the work began is part of it', async () => {
    const queue = new WorkQueue()
    queue.add('a')
    await queue.take()
    queue.add('a')
    queue.begin('a')
    queue.done('a', 'ok')
    expect(queue.size).toBe(0)
    queue.add('a')
    await queue.take()
    queue.begin('a')
    queue.add('a')
    queue.done('a', 'ok')
    expect(queue.waiting).toBe(1)
  })

  test('failures back off by doubling and are forgotten after a success', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock, firstRetryMs: 100, maxRetryMs: 300, random: () => 1 })
    queue.add('a')
    const waits: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const before = clock.monotonicMs()
      const taken = queue.take()
      while (queue.waiting === 0 && clock.timers > 0) await clock.advance(50)
      expect(await taken).toBe('a')
      waits.push(clock.monotonicMs() - before)
      queue.done('a', turn === 3 ? 'ok' : 'failed')
    }
    expect(waits).toEqual([0, 100, 200, 300])
    expect(queue.size).toBe(0)
  })

  test('a change ends the pause', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock })
    queue.addAfter('a', 60_000)
    expect(queue.waiting).toBe(0)
    queue.add('a')
    expect(queue.waiting).toBe(1)
    expect(clock.timers).toBe(0)
  })

  test('paused keys are told apart from waiting ones and those in work', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() })
    queue.addAfter('a', 1000)
    expect([queue.isPaused('a'), queue.isPaused('b')]).toEqual([true, false])
    queue.add('a')
    expect(queue.isPaused('a')).toBe(false)
    await queue.take()
    expect([queue.isPaused('a'), queue.size]).toEqual([false, 1])
  })

  test('retryAfter brings the key back after that time', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock })
    queue.add('a')
    queue.done((await queue.take()) ?? '', { retryAfterMs: 500 })
    await clock.advance(499)
    expect(queue.waiting).toBe(0)
    await clock.advance(1)
    expect(queue.waiting).toBe(1)
  })

  test('closing ends waiting calls of take and timers', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock })
    queue.addAfter('b', 10)
    const taken = queue.take()
    queue.close()
    expect(await taken).toBeNull()
    expect(clock.timers).toBe(0)
    queue.add('a')
    expect(await queue.take()).toBeNull()
  })

  test('property: every key is taken after its last add, and never by two workers', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        key: fc.integer({ min: 0, max: 5 }),
        group: fc.integer({ min: 0, max: 2 }),
      }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('done' as const), failed: fc.boolean() }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new FakeClock()
        const queue = new WorkQueue({ clock })
        const owed = new Set<string>()
        const working: string[] = []
        const take = async () => {
          const key = (await queue.take()) ?? ''
          expect(working).not.toContain(key)
          working.push(key)
          owed.delete(key)
        }
        for (const at of steps) {
          if (at.do === 'add') {
            owed.add(`k${at.key}`)
            queue.add(`k${at.key}`, `g${at.group}`)
          } else if (at.do === 'take' && queue.waiting > 0) await take()
          else if (at.do === 'done' && working.length > 0) {
            const key = working.shift() ?? ''
            if (at.failed) owed.add(key)
            queue.done(key, at.failed ? 'failed' : 'ok')
          }
        }
        for (const key of working.splice(0)) queue.done(key, 'ok')
        await clock.advance(60_000)
        while (queue.waiting > 0) {
          await take()
          queue.done(working.shift() ?? '', 'ok')
        }
        expect([...owed]).toEqual([])
        expect(queue.size).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})
