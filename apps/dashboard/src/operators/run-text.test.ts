import { expect, it } from 'vitest'
import { countsText } from './run-text.ts'

it('counts the addresses of a pool, and those that rest only while some do', () => {
  const pool = { total: 235, free: 231, taken: 4, resting: 0 }
  expect(countsText(pool)).toBe('231 of 235 free, 4 taken')
  expect(countsText({ ...pool, free: 230, resting: 1 })).toBe('230 of 235 free, 4 taken, 1 resting')
})
