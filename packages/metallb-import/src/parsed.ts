import type { z } from 'zod'
import { BadManifests, type Manifest, shown } from './manifest.ts'

/**
 * Reads a part of an object.
 * @param part the part's name in messages, such as `spec`
 * @throws BadManifests naming file, document and field of each error
 */
export function parsed<S extends z.ZodType>(
  { where, kind, name }: Manifest,
  part: string,
  schema: S,
  value: unknown,
): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new BadManifests(
    result.error.issues.map(({ path, message }) => {
      const field = [part, ...path.map((step) => shown(String(step)))].join('.')
      return `${where} (${shown(kind)} ${name}): ${field}: ${shown(message)}`
    }),
  )
}

/** Runs the steps and reports what all of them cannot read together. @throws BadManifests */
export function allOf<T, R>(items: readonly T[], step: (item: T) => R): readonly R[] {
  const bad: string[] = []
  const results = items.flatMap((item) => {
    try {
      return [step(item)]
    } catch (error) {
      if (!(error instanceof BadManifests)) throw error
      bad.push(...error.lines)
      return []
    }
  })
  if (bad.length > 0) throw new BadManifests(bad)
  return results
}

/** `false` and empty values say nothing. */
export const isUnset = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)
