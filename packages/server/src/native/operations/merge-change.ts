import { z } from 'zod'

type Fields = Readonly<Record<string, unknown>>

/**
 * The schema of a change that is merged into the stored object: every field is optional, at any depth. Nullable fields
 * may be set to null. A list replaces the whole list.
 */
export function mergeOf(draft: z.ZodObject): z.ZodType<Fields> {
  const fields = Object.entries(draft.shape).map(([name, schema]) => [name, partial(schema as z.ZodType).optional()])
  return z.strictObject(Object.fromEntries(fields)) as unknown as z.ZodType<Fields>
}

/** Defaults are removed, because they would overwrite what is stored. */
function partial(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return partial(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodNullable) return partial(schema.unwrap() as z.ZodType).nullable()
  return schema instanceof z.ZodObject ? mergeOf(schema) : schema
}

/**
 * Merges a change into the stored object: objects field by field, everything else whole (RFC 7396, except that null is
 * a value).
 */
export function merged(stored: Fields, change: Fields): Fields {
  const result: Record<string, unknown> = { ...stored }
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue
    result[name] = isFields(value) ? merged(isFields(result[name]) ? result[name] : {}, value) : value
  }
  return result
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
