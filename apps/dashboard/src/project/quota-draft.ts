import type { ProjectQuota, QuotaChange } from '../api/quotas.ts'
import type { ClassRow } from './class-rows.ts'
import type { QuotaRow } from './quota-rows.ts'

/** A limit that can be typed. */
export interface LimitField {
  readonly part: keyof QuotaChange
  /** The resource, or the id of the class. */
  readonly name: string
  readonly title: string
  readonly used: number
  /** Null: it has none. */
  readonly before: number | null
}

/** Typed limits, as text, by the path of their field. */
export type TypedLimits = Readonly<Record<string, string>>

const MOST_COUNT = 1_000_000
const MOST_BYTES = 2 ** 40

/**
 * The limits of a quota, those of classes last.
 * @param before as it was when somebody began to type: what others change meanwhile is not set back
 */
export const limitFields = (
  before: ProjectQuota,
  rows: readonly QuotaRow[],
  classes: readonly ClassRow[],
): readonly LimitField[] => [
  ...rows.map(({ resource, title, used }) => ({
    ...{ part: 'limits' as const, name: resource, used, before: before.limits[resource] },
    title: resource === 'bytes' ? `${title} (bytes)` : title,
  })),
  ...classes.map(({ id, title, used }) => ({
    ...{ part: 'classes' as const, name: id, title, used },
    before: before.classes.find((one) => one.id === id)?.limit ?? null,
  })),
]

/** Its path in the request, by which a refusal names it. */
export const pathOf = ({ part, name }: LimitField): string => `${part}.${name}`

/** What stands in the field: what was typed, else the limit. Empty: there is none. */
export const textOf = (field: LimitField, typed: TypedLimits): string =>
  typed[pathOf(field)] ?? (field.before === null ? '' : String(field.before))

/** What is wrong with a typed limit; null: nothing. */
export function limitError(field: LimitField, typed: TypedLimits): string | null {
  const text = textOf(field, typed).trim()
  if (isNone(field, text)) return null
  const most = field.part === 'limits' && field.name === 'bytes' ? MOST_BYTES : MOST_COUNT
  const isWhole = /^\d{1,13}$/.test(text)
  return isWhole && Number(text) <= most ? null : `must be a whole number from 0 to ${most.toLocaleString('en')}`
}

/** A class may have no limit of its own. */
const isNone = ({ part }: LimitField, text: string): boolean => part === 'classes' && text === ''

/** The limits that were changed; null: none. Those that are as before are not sent. */
export function quotaChange(fields: readonly LimitField[], typed: TypedLimits): QuotaChange | null {
  const changed = fields
    .filter((field) => limitError(field, typed) === null)
    .map((field) => ({ ...field, limit: limitOf(field, textOf(field, typed).trim()) }))
    .filter(({ before, limit }) => before !== limit)
  const limitsIn = (part: keyof QuotaChange) =>
    Object.fromEntries(changed.filter((one) => one.part === part).map(({ name, limit }) => [name, limit]))
  return changed.length === 0 ? null : { limits: limitsIn('limits'), classes: limitsIn('classes') }
}

const limitOf = (field: LimitField, text: string): number | null => (isNone(field, text) ? null : Number(text))
