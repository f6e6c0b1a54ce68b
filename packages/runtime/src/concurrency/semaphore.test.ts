import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

test('runs at most so many at a time, the others in order, also after one that fails', async () => {
  const semaphore = new Semaphore(2)
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const task = (name: string) => () => {
    begun.push(name)
    const end = Promise.withResolvers<string>()
    ends.set(name, end)
    return end.promise
  }
  const all = ['a', 'b', 'c', 'd'].map((name) => semaphore.run(task(name)))
  const settled = Promise.allSettled(all)
  expect(begun).toEqual(['a', 'b'])
  ends.get('b')!.reject(new Error('no'))
  await expect(all[1]).rejects.toThrow('no')
  expect(begun).toEqual(['a', 'b', 'c'])
  ends.get('a')!.resolve('a')
  expect(await all[0]).toBe('a')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  for (const name of ['c', 'd']) ends.get(name)!.resolve(name)
  await settled
  // All have left, so there is room again.
  expect(await semaphore.run(async () => 'e')).toBe('e')
})
