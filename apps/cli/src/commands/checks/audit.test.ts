import { expect, test } from 'vitest'
import { sinceTime } from './audit.ts'

const NOW = new Date('2026-02-01T00:00:00.000Z')

test.each([
  ['90s', '2026-01-31T23:58:30.000Z'],
  ['15m', '2026-01-31T23:45:00.000Z'],
  ['2h', '2026-01-31T22:00:00.000Z'],
  ['7d', '2026-01-25T00:00:00.000Z'],
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
])('since %s', (text, time) => {
  expect(sinceTime(text, NOW)).toBe(time)
})

test.each(['', 'yesterday', '5', 'h', '-1h', '5w', '99'])('%o is no time', (text) => {
  expect(() => sinceTime(text, NOW)).toThrow('how long ago')
})
