import { expect, it } from 'vitest'
import { resumedWeight } from './resumed-weight.ts'

it('a member that takes traffic again gets an average share, not a hundredth', () => {
  expect(resumedWeight([0, 50, 50])).toBe(50)
  expect(resumedWeight([0, 90, 10])).toBe(50)
  expect(resumedWeight([0, 1, 1])).toBe(1)
  expect(resumedWeight([0, 0])).toBe(1)
})
