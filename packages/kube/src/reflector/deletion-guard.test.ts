import { describe, expect, it } from 'vitest'
import { DEFAULT_DELETION_GUARD_POLICY, judgeList } from './deletion-guard.ts'

const policy = { ...DEFAULT_DELETION_GUARD_POLICY, confirmLists: 3, confirmAfterMs: 1000 }
const keys = (count: number) => new Set(Array.from({ length: count }, (_, index) => `k${index}`))
const sight = (known: number, gone: number, historyWentBack = false) => ({ known, gone: keys(gone), historyWentBack })

describe('judgeList', () => {
  it.each([
    { known: 100, gone: 0, reason: null },
    { known: 100, gone: 50, reason: null },
    { known: 100, gone: 51, reason: 'shrunk' },
    { known: 100, gone: 100, reason: 'empty' },
    { known: 2, gone: 2, reason: null },
    { known: 3, gone: 3, reason: 'empty' },
  ])('$gone of $known gone: $reason', ({ known, gone, reason }) => {
    expect(judgeList(sight(known, gone), null, 0, policy)?.reason ?? null).toBe(reason)
  })

  it('confirms no deletion by itself after the history went back, however few objects are missing', () => {
    let guard = judgeList(sight(100, 1, true), null, 0, policy)
    expect(guard?.reason).toBe('history')
    for (let nowMs = 1000; nowMs < 100_000; nowMs += 1000) guard = judgeList(sight(100, 1), guard, nowMs, policy)
    expect(guard).toMatchObject({ reason: 'history', sinceMs: 0, lists: 100 })
    expect(judgeList(sight(100, 0, true), guard, 0, policy)).toBeNull()
  })

  it('confirms deletions once enough lists agree for long enough', () => {
    const first = judgeList(sight(100, 100), null, 0, policy)
    const second = judgeList(sight(100, 100), first, 1000, policy)
    expect(second).toMatchObject({ lists: 2, sinceMs: 0 })
    expect(judgeList(sight(100, 100), second, 1001, policy)).toBeNull()
    // As many lists, but too soon.
    expect(judgeList(sight(100, 100), { ...second!, lists: 10 }, 999, policy)).not.toBeNull()
  })

  it('stays up when most of the missing objects came back', () => {
    const first = judgeList(sight(100, 100), null, 0, policy)
    expect(judgeList(sight(100, 2), first, 10, policy)).toMatchObject({ reason: 'empty', lists: 2 })
  })
})
