import { z } from 'zod'

/**
 * A draft of which nothing needs to be named: what is left out stays away, where a default would overwrite what is stored.
 */
export function changeOf<Shape extends Record<string, z.ZodType>>(draft: z.ZodObject<Shape>) {
  const fields = Object.entries(draft.shape).map(([name, schema]) => [name, withoutDefault(schema).optional()])
  return z.strictObject(Object.fromEntries(fields)) as unknown as z.ZodType<Partial<z.input<z.ZodObject<Shape>>>>
}

const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema
