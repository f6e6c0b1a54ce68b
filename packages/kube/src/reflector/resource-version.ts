/** Decimal without leading zeros, as all API servers write it. */
const DECIMAL = /^(0|[1-9]\d*)$/

/**
 * Negative when `a` is older than `b`, 0 when they are equal. Since 1.35 (KEP-5504), Kubernetes guarantees that the
 * versions of one resource are growing decimal numbers.
 *
 * @returns null when the two cannot be compared
 */
export function compareVersions(a: string, b: string): number | null {
  if (a === b) return 0
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return null
  // Compared as text, because they may exceed the integers of a double.
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : 1
}

/** Whether `a` is known to be older than `b`. */
export const isOlder = (a: string, b: string): boolean => (compareVersions(a, b) ?? 0) < 0

/** The newer one, or `a` when they cannot be compared. */
export const newerOf = (a: string, b: string): string => ((compareVersions(a, b) ?? 1) < 0 ? b : a)
