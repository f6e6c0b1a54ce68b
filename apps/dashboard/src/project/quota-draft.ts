import type { QuotaLimits, QuotaResource } from '@spout/model'

/** Typed limits, as text. */
export type TypedLimits = Readonly<Partial<Record<QuotaResource, string>>>

const MOST_COUNT = 1_000_000
const MOST_BYTES = 2 ** 40

/** What is wrong with a typed limit; null: nothing. */
export function limitError(resource: QuotaResource, text: string): string | null {
  const most = resource === 'bytes' ? MOST_BYTES : MOST_COUNT
  const isWhole = /^\d{1,13}$/.test(text.trim())
  return isWhole && Number(text) <= most ? null : `must be a whole number from 0 to ${most.toLocaleString('en')}`
}

/** The limits that were changed. Those that are as before are not sent: somebody else may change them meanwhile. */
export const changedLimits = (typed: TypedLimits, before: QuotaLimits): Partial<QuotaLimits> =>
  Object.fromEntries(
    Object.entries(typed)
      .filter(([resource, text]) => limitError(resource as QuotaResource, text) === null)
      .map(([resource, text]) => [resource, Number(text)] as const)
      .filter(([resource, limit]) => before[resource as QuotaResource] !== limit),
  )
