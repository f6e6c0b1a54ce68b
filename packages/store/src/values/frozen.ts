/** Freezes a JSON value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    for (const field of Object.values(value)) deepFreeze(field)
    Object.freeze(value)
  }
  return value
}

/**
 * Freezes a value in place, without a copy.
 * @param like a frozen value; parts that `value` shares with it are not visited again
 * @returns false, having frozen nothing, when the value would not survive JSON unchanged
 */
export function freezeAsJson(value: unknown, like: unknown): boolean {
  const made: object[] = []
  if (!collect(value, like, made)) return false
  for (const one of made) Object.freeze(one)
  return true
}

/** Collects the objects that are not in `like`. */
function collect(value: unknown, like: unknown, made: object[]): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object') return false
  if (value === like) return true
  made.push(value)
  if (Array.isArray(value)) return collectList(value, Array.isArray(like) ? like : [], made)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  const fields = value as Readonly<Record<string, unknown>>
  const known = typeof like === 'object' && like !== null ? (like as Readonly<Record<string, unknown>>) : NOTHING
  for (const name in fields) if (!collect(fields[name], known[name], made)) return false
  return true
}

const NOTHING: Readonly<Record<string, unknown>> = {}

function collectList(value: readonly unknown[], like: readonly unknown[], made: object[]): boolean {
  let known: Set<unknown> | null = null
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    if (item === like[at] && item !== undefined) continue
    if (typeof item === 'object' && item !== null && like.length > 0) {
      known ??= new Set(like)
      if (known.has(item)) continue
    }
    if (!collect(item, like[at], made)) return false
  }
  return true
}
