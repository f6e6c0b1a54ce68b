const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/**
 * What `next` is, made of the parts of `before` that are the same: `before` itself when all of it is. What was kept for
 * long stays where it is, and what came with a change is garbage at once, so a burst of changes costs little memory.
 *
 * Equal parts are put into `next` itself: its objects keep the shape that their maker gave them. Plain objects and arrays
 * are looked into; anything else is the same only when it is identical.
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
    // An own field is set whatever its name; of something frozen nothing is.
    if (!Object.is(shared, part)) Reflect.set(next, name, shared)
    same &&= had && Object.is(shared, old)
  }
  return same ? before : next
}
