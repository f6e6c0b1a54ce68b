import { done, silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, expect, test } from 'vitest'
import { Stale } from '../cluster/object-writes.ts'
import { type Followed, IntentLoop } from './intent-loop.ts'

const loops: IntentLoop<'unit' | 'leave'>[] = []
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.stop()
})

function started(reconcile: (name: string) => void = () => {}) {
  const clock = new FakeClock()
  const seen: string[] = []
  const sides = { isRead: false, isListed: false }
  const list: Followed = {
    get listed() {
      return sides.isListed
    },
    follow: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  }
  const loop = new IntentLoop<'unit' | 'leave'>({
    ...{ name: 'test', workers: 1, clock, log: silentLogger() },
    isRead: () => sides.isRead,
    follows: [list],
    begin: () => seen.push('begin'),
    beforeEach: () => seen.push('each'),
    looks: {
      unit: (name) => {
        seen.push(`unit ${name}`)
        reconcile(name)
        return done
      },
      leave: (name) => {
        seen.push(`leave ${name}`)
        return done
      },
    },
  })
  loops.push(loop)
  let unsubscribed = 0
  loop.start([() => unsubscribed++])
  return { clock, loop, seen, sides, unsubscribed: () => unsubscribed }
}

test('nothing is decided before both sides were read', async () => {
  const { clock, loop, seen, sides } = started()
  loop.add('unit', 'shop/web')
  sides.isRead = true
  await clock.advance(1000)
  expect([loop.ready, seen]).toEqual([false, []])
  sides.isListed = true
  await clock.advance(1000)
  expect([loop.ready, loop.size]).toEqual([true, 0])
  expect(seen.filter((one) => one !== 'each')).toEqual(['begin', 'unit shop/web'])
})

test('it begins once, without any key', async () => {
  const { clock, loop, seen, sides } = started()
  Object.assign(sides, { isRead: true, isListed: true })
  await clock.advance(1000)
  expect(seen).toEqual(['begin', 'each'])
  loop.add('leave', 'shop/web')
  await clock.advance(0)
  expect(seen).toEqual(['begin', 'each', 'each', 'leave shop/web'])
})

test.each([
  ['an object that has changed since it was read', new Stale('changed'), 20],
  ['another error', new Error('no route'), 50],
])('%s is tried again', async (_what, error, afterMs) => {
  let failures = 1
  const { clock, loop, seen, sides } = started(() => {
    if (failures-- > 0) throw error
  })
  Object.assign(sides, { isRead: true, isListed: true })
  await clock.advance(1000)
  loop.add('unit', 'a b')
  await clock.advance(0)
  expect(loop.isPaused('unit', 'a b')).toBe(true)
  await clock.advance(afterMs)
  expect(seen.filter((one) => one === 'unit a b')).toHaveLength(2)
  expect(loop.size).toBe(0)
})

test('it unsubscribes, and stops following', async () => {
  const { loop, unsubscribed } = started()
  await loop.stop()
  expect(unsubscribed()).toBe(1)
})
