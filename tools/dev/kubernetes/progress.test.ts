import { expect, test } from 'vitest'
import { describeDuration, withProgress } from './progress.ts'

test('reports progress until it is done', async () => {
  const said: number[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const say = (seconds: number) => {
    said.push(seconds)
    if (said.length === 2) resolve('built')
    if (said.length > 2) reject(new Error('said after it was done'))
  }
  expect(await withProgress(promise, { everyMs: 1, say })).toBe('built')
  expect(said[1]).toBeGreaterThan(said[0] ?? 0)
})

test('passes a failure on', async () => {
  const failing = withProgress(Promise.reject(new Error('no compiler')), { everyMs: 1000, say: () => {} })
  await expect(failing).rejects.toThrow('no compiler')
})

test.each([
  [0.4, '0 s'],
  [40, '40 s'],
  [59.6, '1 min 0 s'],
  [125, '2 min 5 s'],
])('%d seconds are %s', (seconds, text) => expect(describeDuration(seconds)).toBe(text))
