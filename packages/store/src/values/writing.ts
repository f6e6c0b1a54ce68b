import type { Pieces } from '@spout/runtime'

/** A list with fewer items is written at once. */
const LONG = 128
/** Long lists are no deeper than this: those of members and routes are at 3. */
const DEEPEST = 3

/** The text of a JSON value, as `JSON.stringify` writes it, with pauses in its long lists. */
export function* writing(value: unknown, depth = 0): Pieces<string> {
  if (!hasLongList(value, depth)) return JSON.stringify(value)
  const parts: string[] = []
  if (Array.isArray(value)) {
    for (let from = 0; from < value.length; from += LONG) {
      yield
      const items: readonly unknown[] = value.slice(from, from + LONG)
      if (value.length >= LONG) parts.push(JSON.stringify(items).slice(1, -1))
      else for (const item of items) parts.push(yield* writing(item, depth + 1))
    }
    return `[${parts.join()}]`
  }
  for (const [name, part] of Object.entries(value as object))
    parts.push(`${JSON.stringify(name)}:${yield* writing(part, depth + 1)}`)
  return `{${parts.join()}}`
}

function hasLongList(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return false
  if (Array.isArray(value)) return value.length >= LONG || value.some((item) => hasLongList(item, depth + 1))
  for (const name in value) if (hasLongList((value as Readonly<Record<string, unknown>>)[name], depth + 1)) return true
  return false
}
