import { expect, it } from 'vitest'
import { apiTime, dated } from './condition.ts'

const now = apiTime(new Date('2026-01-02T03:04:05.678Z'))
const state = (type: string, status: 'True' | 'False', message = '') => ({ type, status, reason: 'Why', message })

it('writes times in seconds', () => {
  expect(now).toBe('2026-01-02T03:04:05Z')
})

it('a condition keeps its time while its status stays, whatever its message', () => {
  const before = [{ ...state('Ready', 'True', 'old'), lastTransitionTime: '2025-01-01T00:00:00Z' }]
  expect(dated(before, [state('Ready', 'True', 'new')], now)).toEqual([
    { ...state('Ready', 'True', 'new'), lastTransitionTime: '2025-01-01T00:00:00Z' },
  ])
  expect(dated(before, [state('Ready', 'False')], now)[0]?.lastTransitionTime).toBe(now)
  expect(dated(undefined, [state('Ready', 'False')], now)[0]?.lastTransitionTime).toBe(now)
})

it('cuts messages that are too long for people', () => {
  expect(dated([], [state('Ready', 'False', 'x'.repeat(5000))], now)[0]?.message).toHaveLength(1024)
})
