const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Milliseconds of a Gateway API Duration (GEP-2257), such as `1h30m` or `500ms`; null when it is none. */
export function durationMs(text: string): number | null {
  if (!/^(?:\d{1,5}(?:h|ms|m|s)){1,4}$/.test(text)) return null
  let total = 0
  for (const [, number, unit] of text.matchAll(/(\d+)(h|ms|m|s)/g))
    total += Number(number) * (UNITS_MS[unit ?? ''] ?? 0)
  return total
}
