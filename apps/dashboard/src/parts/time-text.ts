const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** How long ago or ahead a time is, such as `3 minutes ago`. Both times in milliseconds since 1970. */
export function relativeTime(atMs: number, nowMs: number, locale?: string): string {
  const seconds = Math.round((atMs - nowMs) / 1000)
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return format.format(Math.trunc(seconds / length), unit)
}

/** How long something takes, in the largest unit that it is whole in: `5 minutes`, `90 seconds`. */
export function durationText(seconds: number, locale?: string): string {
  const [unit, length] = UNITS.find(([, length]) => seconds >= length && seconds % length === 0) ?? ['second', 1]
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / length)
}

/** A time in the reader's zone, with the zone. */
export const absoluteTime = (at: string, locale?: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long', timeZone }).format(new Date(at))
