import { stepBetween } from './step-between.ts'

/** The items that only one of two lists has. */
export interface ListDifference<T> {
  readonly gone: readonly T[]
  readonly come: readonly T[]
  /** The smallest set of common items without which the other common items have the same order in both lists. */
  readonly moved: readonly T[]
}

/**
 * The range in which two lists differ: where it begins in both, and where it ends in each. Items are compared by
 * identity.
 */
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

/**
 * Compares two lists by the identity of their items. Neither may have an item twice. The cost depends on the range
 * between the first and the last difference, and is paid once for two long frozen lists.
 */
export function listDifference<T>(before: readonly T[], after: readonly T[]): ListDifference<T> {
  if (before === after) return { gone: [], come: [], moved: [] }
  if (before.length === 0 || after.length === 0) return { gone: before, come: after, moved: [] }
  const few = fewDifferences(before, after)
  if (few !== null) return few.difference
  const { first, endBefore, endAfter } = changedPart(before, after)
  const [was, is] = [before.slice(first, endBefore), after.slice(first, endAfter)]
  if (was.length === 0 || is.length === 0) return { gone: was, come: is, moved: [] }
  const [old, fresh] = [new Set(was), new Set(is)]
  const stayed = was.filter((item) => fresh.has(item))
  const staying = is.filter((item) => old.has(item))
  return {
    gone: was.filter((item) => !fresh.has(item)),
    come: is.filter((item) => !old.has(item)),
    moved: outOfOrder(stayed, staying),
  }
}

/** Neighbouring items of a list. */
export interface Stretch {
  /** The index of the first. */
  readonly at: number
  readonly count: number
  /** The index of the first in the earlier list, where they were neighbours too. Null: they are new. */
  readonly from: number | null
}

/** Describes a list as stretches of the earlier one and of new items. Null if items moved or occur twice. */
export function stretchesOf(before: readonly unknown[], after: readonly unknown[]): readonly Stretch[] | null {
  const few = fewDifferences(before, after)
  if (few !== null) return few.stretches
  const { come, moved } = listDifference(before, after)
  if (moved.length > 0) return null
  const fresh = new Set(come)
  const stretches: Stretch[] = []
  let [from, at] = [0, 0]
  while (at < after.length) {
    const start = at
    while (at < after.length && fresh.has(after[at])) at++
    if (at > start) stretches.push({ at: start, count: at - start, from: null })
    if (at === after.length) break
    // The items between are gone.
    while (from < before.length && before[from] !== after[at]) from++
    if (from === before.length) return null
    const [first, firstFrom] = [at, from]
    while (at < after.length && from < before.length && after[at] === before[from]) {
      at++
      from++
    }
    stretches.push({ at: first, count: at - first, from: firstFrom })
  }
  return stretches
}

/** As `stretchesOf`, but null also if more than a few items came or went. Then it costs next to nothing. */
export const fewStretchesOf = (before: readonly unknown[], after: readonly unknown[]): readonly Stretch[] | null =>
  fewDifferences(before, after)?.stretches ?? null

interface FewDifferences<T> {
  readonly difference: ListDifference<T>
  /** Null: an item moved. */
  readonly stretches: readonly Stretch[] | null
}

/** Lists with fewer items are compared anew. */
const LONG = 64

/**
 * What the last comparison of a long frozen list found, by the later list. A dozen callers compare the same two versions
 * of a listener's thousands of routes.
 */
const found = new WeakMap<
  readonly unknown[],
  // To hold the earlier list would keep all versions in memory, each by the next one.
  { readonly before: WeakRef<readonly unknown[]>; readonly few: FewDifferences<unknown> | null }
>()

function fewDifferences<T>(before: readonly T[], after: readonly T[]): FewDifferences<T> | null {
  const isLong = before.length >= LONG && after.length >= LONG && Object.isFrozen(after) && Object.isFrozen(before)
  if (!isLong) return fewHere(before, after)
  const known = found.get(after)
  if (known !== undefined && known.before.deref() === before) return known.few as FewDifferences<T> | null
  const few = fewHere(before, after)
  found.set(after, { before: new WeakRef(before), few })
  return few
}

/** More items than this are found by looking each up. */
const FEW = 64

/**
 * Finds a few items that came, went or were replaced, at any places, or one that moved. It builds no sets, so it costs a
 * hundredth of looking each item up. Null if there are other changes.
 */
function fewHere<T>(was: readonly T[], is: readonly T[]): FewDifferences<T> | null {
  const [gone, come, stretches]: [T[], T[], Stretch[]] = [[], [], []]
  let [at, to] = [0, 0]
  for (;;) {
    const same = alike(was, at, is, to)
    if (same > 0) stretches.push({ at: to, count: same, from: at })
    at += same
    to += same
    if (at === was.length || to === is.length) break
    const left = { before: was.length - at, after: is.length - to }
    const step = stepBetween(left, (gone, come) => was[at + gone] === is[to + come])
    if (step === null || gone.length + come.length > FEW) return null
    for (const end = at + step.gone; at < end; at++) gone.push(was[at]!)
    noteFresh(stretches, to, step.come)
    for (const end = to + step.come; to < end; to++) come.push(is[to]!)
  }
  if (gone.length + was.length - at + come.length + is.length - to > FEW) return null
  gone.push(...was.slice(at))
  noteFresh(stretches, to, is.length - to)
  come.push(...is.slice(to))
  if (!gone.some((item) => come.includes(item))) return { difference: { gone, come, moved: [] }, stretches }
  // If several may have moved, these are perhaps not the fewest.
  const isOne = gone.length === 1 && come.length === 1
  return isOne ? { difference: { gone: [], come: [], moved: gone }, stretches: null } : null
}

/** How many items from these places on are the same. */
function alike(was: readonly unknown[], at: number, is: readonly unknown[], to: number): number {
  const most = Math.min(was.length - at, is.length - to)
  let same = 0
  while (same < most && was[at + same] === is[to + same]) same++
  return same
}

function noteFresh(stretches: Stretch[], at: number, count: number): void {
  const last = stretches.at(-1)
  if (count === 0) return
  if (last?.from === null) stretches[stretches.length - 1] = { ...last, count: last.count + count }
  else stretches.push({ at, count, from: null })
}

/** @returns the items of `a` outside a longest increasing subsequence of their indexes in `b` (patience sorting) */
function outOfOrder<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  if (a.every((item, at) => item === b[at])) return []
  const placeOf = new Map(b.map((item, at) => [item, at]))
  const places = a.map((item) => placeOf.get(item)!)
  /**
   * By length - 1: the index in `a` of the item that ends a subsequence of that length with the lowest index in `b`.
   */
  const ends: number[] = []
  /** By index in `a`: the index of the previous item of its subsequence; -1 if it is the first. */
  const previous: number[] = []
  for (const [at, place] of places.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (places[ends[middle]!]! < place) low = middle + 1
      else high = middle
    }
    previous.push(low === 0 ? -1 : ends[low - 1]!)
    ends[low] = at
  }
  const kept = new Set<number>()
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]!) kept.add(at)
  return a.filter((_, at) => !kept.has(at))
}
