/** The items that only one of two lists has. */
export interface ListDifference<T> {
  readonly gone: readonly T[]
  readonly come: readonly T[]
}

/** Compares items by identity. The cost depends on the part between the first and the last difference. */
export function listDifference<T>(before: readonly T[], after: readonly T[]): ListDifference<T> {
  if (before === after) return { gone: [], come: [] }
  let first = 0
  const shorter = Math.min(before.length, after.length)
  while (first < shorter && before[first] === after[first]) first++
  let [lastBefore, lastAfter] = [before.length, after.length]
  while (lastBefore > first && lastAfter > first && before[lastBefore - 1] === after[lastAfter - 1]) {
    lastBefore--
    lastAfter--
  }
  const [was, is] = [before.slice(first, lastBefore), after.slice(first, lastAfter)]
  if (was.length === 0 || is.length === 0) return { gone: was, come: is }
  const [old, fresh] = [new Set(was), new Set(is)]
  return { gone: was.filter((item) => !fresh.has(item)), come: is.filter((item) => !old.has(item)) }
}
