import { FakeClock } from '@spout/runtime/fake-clock'
import { Mutex } from '@spout/runtime/mutex'
import { expect, test } from 'vitest'
import { Supervisor, type SupervisorOptions } from './supervisor.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {} }

/** A supervisor of a pretended process, and a record of what it did with it. */
function supervised(more: Partial<SupervisorOptions> = {}) {
  const clock = new FakeClock()
  const mutex = new Mutex()
  const did: string[] = []
  const start = async () => {
    did.push(`start at ${clock.monotonicMs()}`)
  }
  const supervisor = new Supervisor({ name: 'it', log: silent, clock, mutex, start, ...more })
  return { clock, mutex, did, supervisor }
}

test('a process that is lost after a life is started again at once, one that dies young ever later', async () => {
  const { clock, did, supervisor } = supervised()
  supervisor.started()
  await clock.advance(60_000)
  for (const lifeMs of [0, 5, 5, 5]) {
    await clock.advance(lifeMs)
    supervisor.lost()
    await clock.advance(200)
  }
  expect(did).toEqual(['start at 60000', 'start at 60225', 'start at 60450', 'start at 60695'])
})

test('starts that fail come ever later, up to 5 s, however long each takes', async () => {
  const at: number[] = []
  const { clock, supervisor } = supervised({
    start: async () => {
      at.push(clock.monotonicMs())
      throw new Error('no')
    },
  })
  supervisor.started()
  await clock.advance(2_000)
  supervisor.lost()
  await clock.advance(30_000)
  expect(at.map((ms, index) => ms - (at[index - 1] ?? 2_000))).toEqual([
    ...[0, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000, 5000, 5000],
  ])
  supervisor.close()
  expect(clock.timers).toBe(0)
})

test('what is left is ended before the pause, and nobody is told twice', async () => {
  const did: string[] = []
  const { clock, supervisor } = supervised({
    end: async () => {
      did.push(`end at ${clock.monotonicMs()}`)
    },
    start: async () => {
      did.push(`start at ${clock.monotonicMs()}`)
    },
  })
  supervisor.started()
  supervisor.lost()
  supervisor.lost()
  await clock.advance(100)
  expect(did).toEqual(['end at 0', 'start at 20'])
})

test('a process is looked at until a look finds it gone, and again once it was started', async () => {
  let whole = true
  let looks = 0
  const { clock, did, supervisor } = supervised({
    check: {
      everyMs: 1_000,
      isHealthy: async () => {
        looks++
        if (looks === 2) throw new Error('who knows')
        return whole
      },
    },
  })
  supervisor.watch()
  await clock.advance(3_000)
  expect({ looks, did }).toEqual({ looks: 3, did: [] })
  whole = false
  await clock.advance(1_000)
  whole = true
  expect({ looks, did }).toEqual({ looks: 4, did: ['start at 4000'] })
  await clock.advance(1_000)
  expect(looks).toBe(5)
})

test('a restart waits for what the owner does, and is not done when that started the process', async () => {
  const { clock, mutex, did, supervisor } = supervised()
  supervisor.started()
  let go = () => {}
  const busy = mutex.run(() => new Promise<void>((resolve) => (go = resolve)))
  supervisor.lost()
  await clock.advance(100)
  expect(did).toEqual([])
  supervisor.started()
  go()
  await busy
  await clock.advance(100)
  expect(did).toEqual([])
  supervisor.lost()
  await clock.advance(100)
  expect(did).toEqual(['start at 240'])
})

test('a process that dies while its start is being confirmed is started again', async () => {
  let starts = 0
  const { clock, supervisor } = supervised({
    start: async () => {
      supervisor.started()
      if (++starts === 1) supervisor.lost()
    },
  })
  supervisor.started()
  supervisor.lost()
  await clock.advance(1_000)
  expect(starts).toBe(2)
})

test('after a stop nothing is started until it is wanted again, after a close never', async () => {
  const { clock, did, supervisor } = supervised()
  supervisor.lost()
  supervisor.started()
  supervisor.lost()
  supervisor.stop()
  supervisor.lost()
  await clock.advance(10_000)
  expect(did).toEqual([])
  supervisor.started()
  supervisor.lost()
  await clock.advance(10_000)
  expect(did).toHaveLength(1)
  supervisor.close()
  supervisor.started()
  supervisor.lost()
  await clock.advance(10_000)
  expect(did).toHaveLength(1)
})
