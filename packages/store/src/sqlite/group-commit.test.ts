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
