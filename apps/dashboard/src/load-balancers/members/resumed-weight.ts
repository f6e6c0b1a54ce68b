/**
 * The weight of a drained member that takes traffic again: an average one, since what it had before is stored nowhere.
 * @param weights of all members of its pool
 */
export function resumedWeight(weights: readonly number[]): number {
  const serving = weights.filter((weight) => weight > 0)
  if (serving.length === 0) return 1
  return Math.round(serving.reduce((sum, weight) => sum + weight, 0) / serving.length)
}
