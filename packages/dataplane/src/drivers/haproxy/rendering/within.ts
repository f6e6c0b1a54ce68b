/** HAProxy stores milliseconds in 31 bits. */
export const LONGEST_MS = 0x7fffffff

/** @throws RangeError */
export function within(least: number, value: number, most: number): number {
  if (Number.isInteger(value) && least <= value && value <= most) return value
  throw new RangeError(`${value} is not a whole number from ${least} to ${most}`)
}
