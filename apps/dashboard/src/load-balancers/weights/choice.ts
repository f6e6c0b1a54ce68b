import { percentsOf, shifted } from './shares.ts'
import type { Weighted } from './weighted.ts'

/** Shares that somebody chose and has not applied yet. */
export interface Choice {
  /** What they were chosen from. */
  readonly base: readonly Weighted[]
  /** Of each of `base`, in any unit. */
  readonly shares: readonly number[]
}

const weightsOf = (all: readonly Weighted[]): readonly number[] => all.map(({ weight }) => weight)

/** The percentages that a choice gives, or without one those of the stored weights. */
export const percentsNow = (choice: Choice | null, now: readonly Weighted[]): readonly number[] =>
  percentsOf(choice?.shares ?? weightsOf(now))

/** @returns the choice after one slider was moved; null when it asks for nothing else than what is stored */
export function moved(choice: Choice | null, now: readonly Weighted[], at: number, percent: number): Choice | null {
  const { base, shares } = choice ?? { base: now, shares: weightsOf(now) }
  const stored = weightsOf(base)
  const next = shifted(shares, at, percent, stored)
  const isAsStored = percentsOf(next).every((one, index) => one === percentsOf(stored)[index])
  return isAsStored ? null : { base, shares: next }
}

/** The same shares for those that there are now. Who is new gets nothing, and the others the part of those that went. */
export function carriedOver({ base, shares }: Choice, now: readonly Weighted[]): Choice | null {
  const byId = new Map(base.map(({ id }, at) => [id, shares[at] ?? 0]))
  const kept = now.map(({ id }) => byId.get(id) ?? 0)
  return kept.some((share) => share > 0) ? { base: now, shares: kept } : null
}

/** The weights to store: the smallest whole numbers that give these percentages. */
export const chosenWeights = ({ base, shares }: Choice): ReadonlyMap<string, number> => {
  const percents = percentsOf(shares)
  const common = percents.reduce(greatestDivisor, 0)
  return new Map(base.map(({ id }, at) => [id, (percents[at] ?? 0) / common]))
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))
