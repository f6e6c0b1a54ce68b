import { z } from 'zod'

/**
 * A schema for changes: every field is optional. Absent fields stay absent, because a default would overwrite what is
 * stored.
 */
export function changeOf<Shape extends Record<string, z.ZodType>>(draft: z.ZodObject<Shape>) {
  const fields = Object.entries(draft.shape).map(([name, schema]) => [name, withoutDefault(schema).optional()])
  return z.strictObject(Object.fromEntries(fields)) as unknown as z.ZodType<Partial<z.input<z.ZodObject<Shape>>>>
}

const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema
