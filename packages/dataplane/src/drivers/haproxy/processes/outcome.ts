import { SlotsExhausted } from '../sections/slot-table.ts'

/** Why an entry could not be applied; null if it was. */
export type Outcome = { readonly reason: string; readonly message: string } | null

export const outcomeOf = (error: unknown): Outcome => ({
  reason: error instanceof SlotsExhausted ? 'ProxyFull' : 'ProxyUnavailable',
  message: error instanceof Error ? error.message : String(error),
})
