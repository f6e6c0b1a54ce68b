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
  const names = Object.keys(one).filter((name) => one[name] !== undefined)
  if (names.length !== Object.keys(other).filter((name) => other[name] !== undefined).length) return false
  return names.every((name) => sameJson(one[name], other[name]))
}
