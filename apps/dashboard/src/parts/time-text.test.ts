import { expect, it } from 'vitest'
import { absoluteTime, durationText, relativeTime } from './time-text.ts'

const NOW = Date.parse('2026-11-29T12:00:00.000Z')

it('says how long ago something was', () => {
  const ago = (seconds: number): string => relativeTime(NOW - seconds * 1000, NOW, 'en')
  expect([0, 12, 59, 60, 3599, 7300, 90_000].map(ago)).toEqual([
    'now',
    '12 seconds ago',
    '59 seconds ago',
    '1 minute ago',
    '59 minutes ago',
    '2 hours ago',
    'yesterday',
  ])
  expect(ago(-172_800)).toBe('in 2 days')
})

it('says how long something takes', () => {
  const texts = [0, 1, 90, 300, 3600, 172_800].map((seconds) => durationText(seconds, 'en'))
  expect(texts).toEqual(['0 seconds', '1 second', '90 seconds', '5 minutes', '1 hour', '2 days'])
})

it('prints a time in the zone of the reader', () => {
  expect(absoluteTime('2026-11-29T12:00:00.000Z', 'en-GB', 'Europe/Berlin')).toMatch(/29 Nov 2026, 13:00:00/)
})
