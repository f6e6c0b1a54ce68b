import { describe, expect, test } from 'vitest'
import { FakeClock } from '../clock/fake-clock.ts'
import { createLogger } from '../telemetry/logger.ts'
import { done, failed, Reconciler, retryAfter } from './reconciler.ts'
import { WorkQueue } from './work-queue.ts'

test.each([
  ['a failure', () => failed('not yet'), 'reconcile-failed', undefined],
  [
    'a throw',
    () => {
      throw new Error('boom')
    },
    'reconcile-threw',
    true,
  ],
  ['a wish to come back', () => retryAfter(50), undefined, undefined],
])('%s is tried again', async (_name, first, event, bug) => {
  const lines: { event?: string; bug?: boolean }[] = []
  const log = createLogger({ name: 't', level: 'warn', destination: { write: (line) => lines.push(JSON.parse(line)) } })
  const clock = new FakeClock()
  const queue = new WorkQueue({ clock, firstRetryMs: 50, random: () => 1 })
  let turns = 0
  const reconciler = new Reconciler({
    name: 'test',
    queue,
    log,
    reconcile: () => (++turns === 1 ? first() : done),
  })
  queue.add('a')
  reconciler.start()
  await clock.advance(0)
  expect(turns).toBe(1)
  await clock.advance(50)
  expect(turns).toBe(2)
  await reconciler.stop()
  expect(lines.map((line) => line.event)).toEqual(event === undefined ? [] : [event])
  expect(lines[0]?.bug).toBe(bug)
})

describe('workers', () => {
  test('two keys are worked on at once, one key never', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock })
    const open: (() => void)[] = []
    let most = 0
    const reconciler = new Reconciler({
      name: 'test',
      queue,
      log: createLogger({ name: 't', level: 'silent' }),
      workers: 3,
      reconcile: async () => {
        await new Promise<void>((resolve) => {
          open.push(resolve)
          most = Math.max(most, open.length)
        })
        return done
      },
    })
    reconciler.start()
    for (const key of ['a', 'a', 'b']) queue.add(key)
    await clock.advance(0)
    queue.add('a')
    await clock.advance(0)
    expect(most).toBe(2)
    for (const finish of open.splice(0)) finish()
    await clock.advance(0)
    expect(open.length).toBe(1)
    for (const finish of open.splice(0)) finish()
    await reconciler.stop()
  })
})
