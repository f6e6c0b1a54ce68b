import { describe, expect, it } from 'vitest'
import { cellAfterKey, poolCells } from './pool-cells.ts'
import { countsOf, poolRuns } from './pool-runs.ts'

const NOW = Date.parse('2026-02-01T12:00:00Z')
const pool = (...ranges: readonly (readonly [string, string])[]) => ({
  id: 'public',
  ranges: ranges.map(([first, last]) => ({ first, last })),
})
const held = (address: string, own: object = {}) => ({
  ...{ address, holderId: 'public', projectId: 'shop', use: 'vip' as const, ownerId: 'lb', quarantineUntil: null },
  ...own,
})
const shown = (runs: ReturnType<typeof poolRuns>) =>
  runs.map(({ state, first, last, count }) => `${state} ${first}-${last} ${count}`)

describe('runs of a pool', () => {
  it('join neighbours of one project and state', () => {
    const addresses = [
      held('198.51.100.18', { ownerId: 'other' }),
      held('198.51.100.17'),
      held('198.51.100.19', { projectId: 'blog' }),
      held('198.51.100.21', { quarantineUntil: '2026-02-01T12:05:00Z', ownerId: null }),
      held('198.51.100.22', { quarantineUntil: '2026-02-01T11:59:00Z', ownerId: null }),
      held('198.51.100.23', { holderId: 'another pool' }),
    ]
    const runs = poolRuns(pool(['198.51.100.16', '198.51.100.24']), addresses, NOW)
    expect(shown(runs)).toEqual([
      'free 198.51.100.16-198.51.100.16 1',
      'taken 198.51.100.17-198.51.100.18 2',
      'taken 198.51.100.19-198.51.100.19 1',
      'free 198.51.100.20-198.51.100.20 1',
      'resting 198.51.100.21-198.51.100.21 1',
      'free 198.51.100.22-198.51.100.24 3',
    ])
    expect(runs[1]).toMatchObject({ ownerIds: ['lb', 'other'], projectId: 'shop', use: 'vip', until: null })
    expect(countsOf(runs)).toEqual({ free: 5n, taken: 3n, resting: 1n, all: 9n })
  })

  it('cover every range, and are few in a pool of any size', () => {
    const ranges = [
      ['198.51.100.16', '198.51.100.17'] as const,
      ['2001:db8::', '2001:db8::ffff:ffff:ffff:ffff'] as const,
    ]
    const runs = poolRuns(pool(...ranges), [held('2001:db8::'), held('198.51.100.17')], NOW)
    expect(shown(runs)).toEqual([
      'free 198.51.100.16-198.51.100.16 1',
      'taken 198.51.100.17-198.51.100.17 1',
      'taken 2001:db8::-2001:db8:: 1',
      `free 2001:db8::1-2001:db8::ffff:ffff:ffff:ffff ${2n ** 64n - 1n}`,
    ])
  })
})

describe('squares of a pool', () => {
  it('are addresses while they fit', () => {
    const runs = poolRuns(pool(['198.51.100.16', '198.51.100.19']), [held('198.51.100.18')], NOW)
    expect(poolCells(runs, 4).map(({ state, run }) => `${state} ${run}`)).toEqual([
      'free 0',
      'free 0',
      'taken 1',
      'free 2',
    ])
  })

  it('are several addresses each otherwise, and show what is used', () => {
    const runs = poolRuns(pool(['10.0.0.0', '10.0.255.255']), [held('10.0.10.7')], NOW)
    const cells = poolCells(runs, 1000)
    expect(cells.length).toBeLessThanOrEqual(1000)
    expect(cells.reduce((sum, { count }) => sum + count, 0n)).toBe(65_536n)
    expect(cells.filter(({ state }) => state === 'taken')).toHaveLength(1)
    expect(poolCells([], 10)).toEqual([])
  })

  it('are walked with the keyboard, and nobody falls off', () => {
    expect(cellAfterKey('ArrowRight', 0, 10, 4)).toBe(1)
    expect(cellAfterKey('ArrowDown', 1, 10, 4)).toBe(5)
    expect(cellAfterKey('ArrowDown', 7, 10, 4)).toBe(7)
    expect(cellAfterKey('ArrowUp', 1, 10, 4)).toBe(1)
    expect(cellAfterKey('End', 1, 10, 4)).toBe(9)
    expect(cellAfterKey('Home', 9, 10, 4)).toBe(0)
    expect(cellAfterKey('a', 1, 10, 4)).toBeNull()
  })
})
