/** The items that only one of two lists has. */
export interface ListDifference<T> {
  readonly gone: readonly T[]
  readonly come: readonly T[]
  /** The items that both have are in another order. */
  readonly moved: boolean
}

/** Compares items by identity. The cost depends on the part between the first and the last difference. */
export function listDifference<T>(before: readonly T[], after: readonly T[]): ListDifference<T> {
  if (before === after) return { gone: [], come: [], moved: false }
  let first = 0
  const shorter = Math.min(before.length, after.length)
  while (first < shorter && before[first] === after[first]) first++
  let [lastBefore, lastAfter] = [before.length, after.length]
  while (lastBefore > first && lastAfter > first && before[lastBefore - 1] === after[lastAfter - 1]) {
    lastBefore--
    lastAfter--
  }
  const [was, is] = [before.slice(first, lastBefore), after.slice(first, lastAfter)]
  if (was.length === 0 || is.length === 0) return { gone: was, come: is, moved: false }
  const [old, fresh] = [new Set(was), new Set(is)]
  const stayed = was.filter((item) => fresh.has(item))
  const staying = is.filter((item) => old.has(item))
  return {
    gone: was.filter((item) => !fresh.has(item)),
    come: is.filter((item) => !old.has(item)),
    moved: stayed.length !== staying.length || stayed.some((item, at) => item !== staying[at]),
  }
}
