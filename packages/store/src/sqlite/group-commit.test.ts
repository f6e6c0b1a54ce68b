import { FakeClock } from '@spout/runtime/fake-clock'
import { describe, expect, test } from 'vitest'
import { GroupCommit } from './group-commit.ts'

const recording = (maxBatch = 100) => {
  const batches: (readonly number[])[] = []
  const commits = new GroupCommit<number, string>((batch) => {
    batches.push(batch)
    return batch.map((item) => (item < 0 ? { error: new Error(`no ${item}`) } : { value: `did ${item}` }))
  }, maxBatch)
  return { batches, commits }
}

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

  test('after a flush of a slow disk others have three times as long, and what they submit is one flush', async () => {
    const clock = new FakeClock()
    const batches: (readonly number[])[] = []
    const slow = (batch: readonly number[]) => {
      batches.push(batch)
      clock.stall(10)
      return batch.map((value) => ({ value }))
    }
    const commits = new GroupCommit<number, number>(slow, 100, clock)
    const first = commits.submit(0)
    const others: Promise<number>[] = []
    for (let turn = 1; turn <= 14; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.stall(3)
      others.push(commits.submit(turn))
    }
    await Promise.all([first, ...others])
    expect(batches[0]).toEqual([0])
    // Others work 3 ms in each turn, so 30 ms are over in the tenth.
    expect(batches[1]!.length).toBeGreaterThanOrEqual(9)
    expect(batches.flat()).toEqual(Array.from({ length: 15 }, (_, item) => item))
  })

  test('in an idle process a commit does not wait for others', async () => {
    const clock = new FakeClock()
    const flush = (batch: readonly number[]) => {
      clock.stall(1000)
      return batch.map((value) => ({ value }))
    }
    const commits = new GroupCommit<number, number>(flush, 100, clock)
    let turns = 0
    const count = () => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    for (let item = 0; item < 5; item++) await commits.submit(item)
    clearImmediate(counting)
    expect(turns).toBeLessThan(20)
  })

  test('a long queue is flushed in order, one batch a turn', async () => {
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

  test('drain does not wait for the turn to end', async () => {
    const { batches, commits } = recording(2)
    const all = Promise.all([1, 2, 3].map((item) => commits.submit(item)))
    commits.drain()
    expect(batches).toEqual([[1, 2], [3]])
    expect(await all).toEqual(['did 1', 'did 2', 'did 3'])
  })

  test('an error of a flush is the result of its whole batch', async () => {
    const commits = new GroupCommit<number, string>(() => {
      throw new Error('broken')
    }, 10)
    const answers = await Promise.allSettled([commits.submit(1), commits.submit(2)])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})
