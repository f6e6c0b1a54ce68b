/** Whether numbers and times that alone make a test long are whole. */
export const LONG_TESTS = process.env['SPOUT_LONG_TESTS'] === '1'

/** A number or time that alone makes a test long: `short` by default, `whole` with SPOUT_LONG_TESTS=1. */
export const byLength = (short: number, whole: number): number => (LONG_TESTS ? whole : short)
