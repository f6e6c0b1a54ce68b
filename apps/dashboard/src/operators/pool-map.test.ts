import type { PoolUsagePart } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { cellAfterKey, poolCells } from './pool-cells.ts'
import { poolRuns } from './pool-runs.ts'
import { runText } from './run-text.ts'

const part = (state: PoolUsagePart['state'], first: string, last = first): PoolUsagePart => ({
  ...{ state, first, last, by: null, restsUntil: null },
})
const taken = (address: string, own: Partial<NonNullable<PoolUsagePart['by']>> = {}): PoolUsagePart => ({
  ...part('taken', address),
  by: { use: 'vip', projectId: 'shop', projectName: 'shop', loadBalancerId: 'lb', loadBalancerName: '', ...own },
})
const shown = (runs: ReturnType<typeof poolRuns>) =>
  runs.map(({ state, first, last, count }) => `${state} ${first}-${last} ${count}`)

describe('runs of a pool', () => {
  it('join neighbours of one project and state', () => {
    const runs = poolRuns([
      part('excluded', '198.51.100.16'),
      taken('198.51.100.17'),
      taken('198.51.100.18', { loadBalancerId: 'other' }),
      taken('198.51.100.19', { projectId: 'blog' }),
      part('free', '198.51.100.20'),
      { ...taken('198.51.100.21', { loadBalancerId: null }), state: 'resting', restsUntil: '2026-02-01T12:05:00Z' },
      part('free', '198.51.100.22', '198.51.100.24'),
    ])
    expect(shown(runs)).toEqual([
      'excluded 198.51.100.16-198.51.100.16 1',
      'taken 198.51.100.17-198.51.100.18 2',
      'taken 198.51.100.19-198.51.100.19 1',
      'free 198.51.100.20-198.51.100.20 1',
      'resting 198.51.100.21-198.51.100.21 1',
      'free 198.51.100.22-198.51.100.24 3',
    ])
    expect(runs[1]).toMatchObject({ ownerIds: ['lb', 'other'], projectId: 'shop', use: 'vip', until: null })
    expect(runs[4]).toMatchObject({ ownerIds: [], until: '2026-02-01T12:05:00Z' })
    expect(runText(runs[0]!, new Map())).toBe('198.51.100.16: never given out')
  })

  it('do not join what is on both sides of a gap, and count a pool of any size', () => {
    const last = '2001:db8::ffff:ffff:ffff:ffff'
    expect(
      shown(poolRuns([part('free', '198.51.100.16'), part('free', '198.51.100.18'), part('free', '2001:db8::', last)])),
    ).toEqual([
      'free 198.51.100.16-198.51.100.16 1',
      'free 198.51.100.18-198.51.100.18 1',
      `free 2001:db8::-${last} ${2n ** 64n}`,
    ])
  })
})

describe('squares of a pool', () => {
  it('are addresses while they fit', () => {
    const runs = poolRuns([
      part('free', '198.51.100.16', '198.51.100.17'),
      taken('198.51.100.18'),
      part('free', '198.51.100.19'),
    ])
    expect(poolCells(runs, 4).map(({ state, run }) => `${state} ${run}`)).toEqual([
      'free 0',
      'free 0',
      'taken 1',
      'free 2',
    ])
  })

  it('are several addresses each otherwise, and show what is used', () => {
    const runs = poolRuns([
      part('free', '10.0.0.0', '10.0.10.6'),
      taken('10.0.10.7'),
      part('free', '10.0.10.8', '10.0.255.255'),
    ])
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
