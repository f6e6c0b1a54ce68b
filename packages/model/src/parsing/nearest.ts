/** No name is as long. */
const LONGEST = 128

/**
 * The name that was likely meant by an unknown one; null when none is near.
 * @param most changes of letters; more make another word, not a slip
 */
export function nearest(word: string, names: readonly string[], most: number): string | null {
  if (word.length > LONGEST) return null
  const ranked = names
    .map((name) => ({ name, changes: changesBetween(word.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.changes - b.changes)
  const [best] = ranked
  return best !== undefined && best.changes <= most ? best.name : null
}

/** Letters to insert, drop, replace or swap with the next (optimal string alignment). */
function changesBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped))
    }
  }
  return at(a.length, b.length)
}
