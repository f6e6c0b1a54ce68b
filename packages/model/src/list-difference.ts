/** The items that only one of two lists has. */
export interface ListDifference<T> {
  readonly gone: readonly T[]
  readonly come: readonly T[]
  /** The items that both have are in another order. */
  readonly moved: boolean
}

/** Where the part of two lists that differs begins in both, and ends in each. Compares items by identity. */
export function changedPart(
  before: readonly unknown[],
  after: readonly unknown[],
): { readonly first: number; readonly endBefore: number; readonly endAfter: number } {
  let first = 0
  const shorter = Math.min(before.length, after.length)
  while (first < shorter && before[first] === after[first]) first++
  let [endBefore, endAfter] = [before.length, after.length]
  while (endBefore > first && endAfter > first && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore--
    endAfter--
  }
  return { first, endBefore, endAfter }
}

/** Compares items by identity. The cost depends on the part between the first and the last difference. */
export function listDifference<T>(before: readonly T[], after: readonly T[]): ListDifference<T> {
  if (before === after) return { gone: [], come: [], moved: false }
  const { first, endBefore, endAfter } = changedPart(before, after)
  const [was, is] = [before.slice(first, endBefore), after.slice(first, endAfter)]
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
