import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { percentsOf, shifted } from './shares.ts'

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)
const weights = fc.array(fc.nat(1_000_000), { minLength: 2, maxLength: 16 })

describe('percentsOf', () => {
  it('are whole numbers that add up to 100', () => {
    expect(percentsOf([1, 1, 1])).toEqual([34, 33, 33])
    expect(percentsOf([9, 1])).toEqual([90, 10])
    expect(percentsOf([1, 999])).toEqual([0, 100])
    expect(percentsOf([0, 0])).toEqual([0, 0])
    fc.assert(
      fc.property(weights, (all) => {
        const percents = percentsOf(all)
        expect(total(percents)).toBe(total(all) === 0 ? 0 : 100)
        for (const [at, percent] of percents.entries())
          expect(Math.abs(percent - (100 * (all[at] ?? 0)) / Math.max(1, total(all)))).toBeLessThan(1)
      }),
    )
  })
})

describe('shifted', () => {
  it('gives one its part, and the others the rest in their proportions', () => {
    expect(shifted([100, 0], 1, 10, [100, 0])).toEqual([90, 10])
    expect(shifted([60, 30, 10], 2, 55, [60, 30, 10])).toEqual([30, 15, 55])
  })

  it('a member that gets nothing stays without, while another has something', () => {
    expect(shifted([50, 50, 0], 0, 20, [1, 1, 0])).toEqual([20, 80, 0])
  })

  it('knows the proportions again after one had everything', () => {
    const all = shifted([60, 30, 10], 0, 100, [60, 30, 10])
    expect(all).toEqual([100, 0, 0])
    expect(shifted(all, 0, 60, [60, 30, 10])).toEqual([60, 30, 10])
    expect(shifted([100, 0, 0], 0, 50, [1, 0, 0])).toEqual([50, 25, 25])
  })

  it('always adds up to 100, and the one that was moved has what was asked for', () => {
    fc.assert(
      fc.property(weights, fc.nat(), fc.array(fc.nat(100), { minLength: 1, maxLength: 20 }), (stored, seed, steps) => {
        let shares: readonly number[] = stored
        for (const [turn, percent] of steps.entries()) {
          const at = (seed + turn) % stored.length
          shares = shifted(shares, at, percent, stored)
          const percents = percentsOf(shares)
          expect(percents[at]).toBe(percent)
          expect(total(percents)).toBe(100)
          expect(Math.min(...percents)).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})
