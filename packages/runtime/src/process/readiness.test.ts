import { expect, test } from 'vitest'
import { whyNotReady } from './readiness.ts'

test('ready only when every check holds; each that does not is named', async () => {
  const always = { name: 'always', check: () => null }
  expect(await whyNotReady([])).toBeNull()
  expect(await whyNotReady([always])).toBeNull()
  const why = await whyNotReady([
    always,
    { name: 'store', check: () => 'the disk is full' },
    { name: 'planner', check: async () => Promise.reject(new Error('no answer')) },
  ])
  expect(why).toBe('store: the disk is full\nplanner: no answer')
})
