import { FakeClock } from '@spout/runtime/fake-clock'
import { describe, expect, test } from 'vitest'
import { GroupCommit, type Settled } from './group-commit.ts'

const recording = (maxBatch = 100) => {
  const batches: (readonly number[])[] = []
  const commits = new GroupCommit<number, string>(
    async (batch) => {
      batches.push(batch)
      return batch.map(
        (item): Settled<string> => (item < 0 ? { error: new Error(`no ${item}`) } : { value: `did ${item}` }),
      )
    },
    { maxBatch },
  )
  return { batches, commits }
}

/** A disk whose flushes end when the test says so. */
const slow = () => {
  const flushes: { readonly batch: readonly number[]; readonly end: () => void }[] = []
  const commits = new GroupCommit<number, number>(
    (batch) => {
      const done = Promise.withResolvers<readonly Settled<number>[]>()
      flushes.push({ batch, end: () => done.resolve(batch.map((value) => ({ value }))) })
      return done.promise
    },
    { maxBatch: 100 },
  )
  return { flushes, commits }
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('GroupCommit', () => {
  test('submissions of one turn are one flush, and each gets its own result', async () => {
    const { batches, commits } = recording()
    const answers = await Promise.allSettled([1, -2, 3].map((item) => commits.submit(item)))
    expect(batches).toEqual([[1, -2, 3]])
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason)))).toEqual([
      'did 1',
      'Error: no -2',
      'did 3',
    ])
  })

  test('submissions caused by a flush are in the next one', async () => {
    const { batches, commits } = recording()
    await Promise.all([1, 2].map((item) => commits.submit(item).then(() => commits.submit(item + 10))))
    expect(batches).toEqual([
      [1, 2],
      [11, 12],
    ])
  })

  test('what waits can be refused, and what is under way goes on', async () => {
    const { flushes, commits } = slow()
    const first = commits.submit(0)
    await nextTurn()
    const refused = expect(commits.submit(1)).rejects.toThrow('it takes long')
    commits.refuse(new Error('it takes long'))
    await refused
    flushes[0]?.end()
    expect(await first).toBe(0)
    await commits.drain()
    expect(flushes.map(({ batch }) => batch)).toEqual([[0]])
  })

  test('what is submitted during a flush waits for it and shares the next, and nothing is answered before its own', async () => {
    const { flushes, commits } = slow()
    const answered: number[] = []
    const submit = (item: number) => commits.submit(item).then((value) => answered.push(value))
    const first = submit(0)
    await nextTurn()
    const others: Promise<number>[] = []
    for (let turn = 1; turn <= 14; turn++) {
      others.push(submit(turn))
      await nextTurn()
    }
    expect(flushes.map(({ batch }) => batch)).toEqual([[0]])
    expect(answered).toEqual([])
    flushes[0]!.end()
    await first
    await nextTurn()
    expect(answered).toEqual([0])
    expect(flushes.map(({ batch }) => batch)).toEqual([[0], Array.from({ length: 14 }, (_, at) => at + 1)])
    flushes[1]!.end()
    await Promise.all(others)
  })

  test('a long queue is flushed in order, one batch at a time', async () => {
    const { batches, commits } = recording(2)
    const all = Promise.all([1, 2, 3, 4, 5].map((item) => commits.submit(item)))
    await commits.submit(6)
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    expect(await all).toHaveLength(5)
  })

  test('drain waits until nothing waits and nothing is under way', async () => {
    const { flushes, commits } = slow()
    await commits.drain()
    const all = Promise.all([1, 2].map((item) => commits.submit(item)))
    await nextTurn()
    const late = commits.submit(3)
    let drained = false
    const draining = commits.drain().then(() => {
      drained = true
    })
    flushes[0]!.end()
    await all
    await nextTurn()
    expect(drained).toBe(false)
    flushes[1]!.end()
    await draining
    expect(await late).toBe(3)
  })

  test('an error of a flush is the result of its whole batch', async () => {
    const commits = new GroupCommit<number, string>(
      () => {
        throw new Error('broken')
      },
      { maxBatch: 10 },
    )
    const answers = await Promise.allSettled([commits.submit(1), commits.submit(2)])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

/** A disk that takes `tookMs` for a flush, by a clock that the test moves. */
const timed = (tookMs: number, maxBatch = 100) => {
  const clock = new FakeClock()
  const flushes: { readonly batch: readonly string[]; readonly atMs: number }[] = []
  const commits = new GroupCommit<string, string>(
    async (batch) => {
      flushes.push({ batch, atMs: clock.monotonicMs() })
      await new Promise<void>((resolve) => clock.setTimer(resolve, tookMs))
      return batch.map((value) => ({ value }))
    },
    { maxBatch, clock },
  )
  const busy = (item: string) => commits.submit(item, { yields: true })
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed++) {
      await nextTurn()
      await clock.advance(1)
    }
    await nextTurn()
  }
  return { flushes, commits, busy, pass }
}

describe('items that yield', () => {
  test('leave the disk idle for three times as long as the flush before took', async () => {
    const { flushes, busy, pass } = timed(2)
    const all = [busy('a')]
    await pass(1)
    all.push(busy('b'))
    await pass(20)
    all.push(busy('c'))
    await pass(3)
    await Promise.all(all)
    expect(flushes).toEqual([
      { batch: ['a'], atMs: 0 },
      { batch: ['b'], atMs: 8 },
      // The commit came after the pause was over.
      { batch: ['c'], atMs: 21 },
    ])
  })

  test('go along with one that does not yield, which finds an idle disk', async () => {
    const { flushes, commits, busy, pass } = timed(4)
    const all = [busy('a')]
    await pass(1)
    all.push(busy('b'))
    await pass(6)
    expect(flushes).toHaveLength(1)
    all.push(commits.submit('quiet'))
    await pass(5)
    await Promise.all(all)
    expect(flushes[1]).toEqual({ batch: ['quiet', 'b'], atMs: 7 })
  })

  test('wait for one that does not yield while such ones come one after the other', async () => {
    const { flushes, commits, busy, pass } = timed(2)
    const all: Promise<string>[] = []
    for (let time = 0; time < 3; time++) {
      all.push(commits.submit('quiet'))
      await pass(3)
      all.push(busy('busy'))
      await pass(9)
    }
    await pass(20)
    await Promise.all(all)
    expect(flushes).toEqual([
      { batch: ['quiet'], atMs: 0 },
      { batch: ['quiet', 'busy'], atMs: 12 },
      { batch: ['quiet', 'busy'], atMs: 24 },
      // No `quiet` comes any more. `busy` waits for the longest pause, and no longer.
      { batch: ['busy'], atMs: 46 },
    ])
  })

  test('wait shorter when none has come for a while that does not yield', async () => {
    const { flushes, commits, busy, pass } = timed(2)
    const all = [commits.submit('quiet')]
    await pass(110)
    for (const item of ['a', 'b']) {
      all.push(busy(item))
      await pass(1)
    }
    await pass(20)
    await Promise.all(all)
    expect(flushes.map(({ atMs }) => atMs)).toEqual([0, 110, 118])
  })

  test('are few beside one that does not yield, and all go on after it', async () => {
    const { flushes, commits, busy, pass } = timed(2)
    const many = Array.from({ length: 40 }, (_, at) => `busy${at}`)
    const all = [...many.map(busy), commits.submit('quiet')]
    await pass(40)
    await Promise.all(all)
    expect(flushes.map(({ batch }) => batch)).toEqual([['quiet', ...many.slice(0, 16)], many.slice(16)])
  })

  test('are behind those that do not yield in a batch that is full', async () => {
    const { flushes, commits, busy, pass } = timed(1, 2)
    const all = [busy('a'), busy('b'), busy('c'), commits.submit('quiet')]
    await pass(30)
    await Promise.all(all)
    expect(flushes.map(({ batch }) => batch)).toEqual([
      ['quiet', 'a'],
      ['b', 'c'],
    ])
  })

  test('do not wait long for a slow disk', async () => {
    const { flushes, busy, pass } = timed(500)
    const all = [busy('a')]
    await pass(1)
    all.push(busy('b'))
    await pass(1100)
    await Promise.all(all)
    expect(flushes.map(({ atMs }) => atMs)).toEqual([0, 520])
  })

  test('are flushed before it is drained', async () => {
    const { flushes, commits, busy, pass } = timed(2)
    const all = [busy('a')]
    await pass(1)
    all.push(busy('b'))
    const drained = commits.drain().then(() => flushes.length)
    await pass(20)
    expect(await drained).toBe(2)
    await Promise.all(all)
  })
})
