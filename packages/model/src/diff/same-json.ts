/** Whether two JSON values are equal. The order of fields does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let at = 0; at < a.length; at++) if (a[at] !== b[at] && !sameJson(a[at], b[at])) return false
    return true
  }
  if (Array.isArray(b)) return false
  const [one, other] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]
  let count = 0
  // `for in` allocates no list of names, as Object.keys would: a document has thousands of small objects.
  for (const name in one) {
    const value = one[name]
    if (value === undefined) continue
    if (value !== other[name] && !(Object.hasOwn(other, name) && sameJson(value, other[name]))) return false
    count++
  }
  for (const name in other) if (other[name] !== undefined && --count < 0) return false
  return count === 0
}
