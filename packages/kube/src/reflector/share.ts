const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/**
 * `next`, built from equal parts of `before`; `before` itself when everything is equal. Long-lived parts stay where
 * they are and the new copies are garbage at once, so a burst of changes costs little memory.
 *
 * Equal parts are put into `next` itself, whose objects keep their shape. Plain objects and arrays are compared by
 * content, everything else by identity.
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
    // Sets own fields of any name; a frozen object stays as it is.
    if (!Object.is(shared, part)) Reflect.set(next, name, shared)
    same &&= had && Object.is(shared, old)
  }
  return same ? before : next
}
