/** How near a figure is to its limit, for the colour of its bar. */
export type QuotaLevel = 'ok' | 'warn' | 'bad'

const NEARLY_PERCENT = 80

/** 0 to 100, also where more is used than a lowered limit allows. */
export const percentOf = (used: number, limit: number): number =>
  limit === 0 ? (used > 0 ? 100 : 0) : Math.min(100, (100 * used) / limit)

/** @param limit null: there is none */
export function levelOf(used: number, limit: number | null): QuotaLevel {
  if (limit === null) return 'ok'
  if (used > 0 && used >= limit) return 'bad'
  return percentOf(used, limit) >= NEARLY_PERCENT ? 'warn' : 'ok'
}
