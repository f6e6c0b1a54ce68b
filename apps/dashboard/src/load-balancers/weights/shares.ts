const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/**
 * Whole numbers in proportion to these weights that add up to the total (largest remainder). Where all weights are 0,
 * so are the parts.
 */
export function apportioned(total: number, weights: readonly number[]): readonly number[] {
  const all = sum(weights)
  if (all === 0) return weights.map(() => 0)
  const exact = weights.map((weight) => (total * weight) / all)
  const parts = exact.map(Math.floor)
  const byRemainder = exact
    .map((one, at) => ({ at, remainder: one - Math.floor(one) }))
    .toSorted((a, b) => b.remainder - a.remainder)
  for (const { at } of byRemainder.slice(0, total - sum(parts))) parts[at] = (parts[at] ?? 0) + 1
  return parts
}

/** The percentage that each gets, as a whole number. */
export const percentsOf = (weights: readonly number[]): readonly number[] => apportioned(100, weights)

/**
 * Gives one this percentage. The others share the rest as they did before, and where they had nothing, as they do in
 * `stored`. Where that is nothing either, alike.
 * @returns percentages that are no whole numbers, so that many small steps keep the proportions
 */
export function shifted(
  shares: readonly number[],
  at: number,
  percent: number,
  stored: readonly number[],
): readonly number[] {
  const others = (of: readonly number[]): readonly number[] => of.map((one, index) => (index === at ? 0 : one))
  const like = [shares, stored].map(others).find((one) => sum(one) > 0) ?? others(shares.map(() => 1))
  const rest = (100 - percent) / sum(like)
  return like.map((one, index) => (index === at ? percent : one * rest))
}
