const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/**
 * Returns `next` with every part that equals one of `before` replaced by that part; `before` itself when everything is
 * equal. So long-lived parts stay the same objects, the new copies are garbage at once, and a burst of changes costs
 * little memory.
 *
 * It changes `next` in place. Plain objects and arrays are compared by content, everything else by identity.
 */
export function share<T>(before: T, next: T): T {
  if (Object.is(before, next)) return before
  const alike = Array.isArray(before) ? Array.isArray(next) : isPlain(before) && isPlain(next)
  return alike ? (shareParts(before as object, next as object) as T) : next
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
