import { z } from 'zod'

type Fields = Readonly<Record<string, unknown>>

/**
 * A draft of which nothing needs to be named, at any depth: the body of a change that is merged into what is stored. What
 * may be null may be set to null; lists stand for the whole list.
 */
export function mergeOf(draft: z.ZodObject): z.ZodType<Fields> {
  const fields = Object.entries(draft.shape).map(([name, schema]) => [name, partial(schema as z.ZodType).optional()])
  return z.strictObject(Object.fromEntries(fields)) as unknown as z.ZodType<Fields>
}

/** Defaults go: they would overwrite what is stored. */
function partial(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return partial(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodNullable) return partial(schema.unwrap() as z.ZodType).nullable()
  return schema instanceof z.ZodObject ? mergeOf(schema) : schema
}

/** What is stored with what a change names in its place: objects field by field, everything else whole (RFC 7396, but null is a value). */
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
