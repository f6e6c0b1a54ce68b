const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'] as const

/** A figure in three or four digits, with a prefix of the SI: `1.24 k`. */
export function shortFigure(value: number, locale?: string): string {
  let [scaled, at] = [value, 0]
  while (Math.abs(scaled) >= 999.5 && at < PREFIXES.length - 1) {
    scaled /= 1000
    at++
  }
  const digits = Math.abs(scaled) >= 99.5 || Number.isInteger(scaled) ? 0 : Math.abs(scaled) >= 9.95 ? 1 : 2
  const text = new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(scaled)
  return at === 0 ? text : `${text} ${PREFIXES[at]}`
}

/** Bytes, or bytes a second with `per` `/s`: `3.1 MB/s`. */
export function byteFigure(bytes: number, per = '', locale?: string): string {
  const text = shortFigure(bytes, locale)
  return `${/[a-zA-Z]$/.test(text) ? text : `${text} `}B${per}`
}
