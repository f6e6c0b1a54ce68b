import type { z } from 'zod'
import { SpoutError } from './errors.ts'

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )

/**
 * Checks a value against a schema of the model.
 * @param prefix put before field names, such as `listener`
 * @throws SpoutError UnknownField, MissingField or InvalidField, naming the first offending field
 */
export function parseAs<S extends z.ZodType>(schema: S, value: unknown, prefix = ''): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  if (issue === undefined) throw new SpoutError('InvalidField', { field: prefix || '(body)', reason: 'is not valid' })
  const path = [...(prefix ? [prefix] : []), ...issue.path]
  if (issue.code === 'unrecognized_keys')
    throw new SpoutError('UnknownField', { field: pathText([...path, issue.keys[0] ?? '']) })
  if (issue.code === 'invalid_type' && issue.input === undefined && !('received' in issue && issue.received)) {
    if (valueAt(value, issue.path) === undefined && issue.path.length > 0)
      throw new SpoutError('MissingField', { field: pathText(path) })
  }
  throw new SpoutError('InvalidField', { field: pathText(path) || '(body)', reason: issue.message })
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, part) => (at === null || typeof at !== 'object' ? undefined : (at as Record<PropertyKey, unknown>)[part]),
    value,
  )
