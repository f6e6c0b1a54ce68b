const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isPlain = (value: unknown): value is object =>
  isObject(value) && Object.getPrototypeOf(value) === Object.prototype

/**
 * Returns `next` with every part that equals one of `before` replaced by that part; `before` itself when everything is
 * equal. So long-lived parts stay the same objects, the new copies are garbage at once, and a burst of changes costs
 * little memory.
 *
 * It changes `next` in place. Plain objects and arrays are compared by content, everything else by identity.
 */
export function share<T>(before: T, next: T): T {
  if (Object.is(before, next)) return before
  if (Array.isArray(before)) return Array.isArray(next) ? (shareItems(before, next) as T) : next
  return isPlain(before) && isPlain(next) ? (shareParts(before, next) as T) : next
}

/**
 * Compares items by index. If `next` was made from `before`, an added or removed item shifts the later ones, which are
 * the same objects. They are then found by identity, so a list of thousands is not compared in depth.
 */
function shareItems(before: readonly unknown[], next: unknown[]): readonly unknown[] {
  const isAsLong = before.length === next.length
  let same = isAsLong
  let from = 0
  for (let at = 0; at < next.length; at++) {
    const item: unknown = next[at]
    if (!isAsLong && item !== before[from]) {
      const gone = stepsTo(item, before, from)
      // The item is new, so it has nothing to share.
      if (gone === 0 && stepsTo(before[from], next, at) > 0) continue
      from += gone
    }
    const shared = from < before.length ? share(before[from], item) : item
    if (!Object.is(shared, item)) Reflect.set(next, at, shared)
    same &&= Object.is(shared, before[from])
    from++
  }
  return same ? before : next
}

/** The most items that may be added or removed at one place. */
const MOST_TOGETHER = 8

/** How many items after `at` the list has this object. 0: not within `MOST_TOGETHER`. */
function stepsTo(item: unknown, list: readonly unknown[], at: number): number {
  if (!isObject(item)) return 0
  for (let steps = 1; steps <= MOST_TOGETHER; steps++) if (list[at + steps] === item) return steps
  return 0
}

function shareParts(before: object, next: object): object {
  const names = Object.keys(next)
  let same = names.length === Object.keys(before).length
  for (const name of names) {
    const part: unknown = Reflect.get(next, name)
    const had = Object.hasOwn(before, name)
    const old: unknown = had ? Reflect.get(before, name) : undefined
    const shared = had ? share(old, part) : part
    // `Reflect.set` does not throw for a frozen object, which stays as it is.
    if (!Object.is(shared, part)) Reflect.set(next, name, shared)
    same &&= had && Object.is(shared, old)
  }
  return same ? before : next
}
