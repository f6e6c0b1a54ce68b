import type { z } from 'zod'
import { SpoutError } from './errors.ts'

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )

/** An option of zod that its types leave out: the validation of a list ends at its first wrong item. */
const AT_FIRST_ISSUE: object = { abortEarly: true }

/**
 * Validates a value with a schema of the model. It stops at the first wrong field, because thousands of wrong ones
 * would take a hundred milliseconds.
 * @param prefix put before field names, such as `listener`
 * @throws SpoutError UnknownField, MissingField or InvalidField, naming the first wrong field
 */
export function parseAs<S extends z.ZodType>(schema: S, value: unknown, prefix = ''): z.output<S> {
  const result = schema.safeParse(value, AT_FIRST_ISSUE)
  if (result.success) return result.data
  let [first] = result.error.issues
  // `likelyMeant` compares all issues of each alternative, so this time none may be left out.
  if (first?.code === 'invalid_union') first = schema.safeParse(value).error?.issues[0]
  if (first === undefined) throw new SpoutError('InvalidField', { field: prefix || '(body)', reason: 'is not valid' })
  const issue = likelyMeant(first)
  const path = [...(prefix ? [prefix] : []), ...issue.path]
  if (issue.code === 'unrecognized_keys')
    throw new SpoutError('UnknownField', { field: pathText([...path, issue.keys[0] ?? '']) })
  if (issue.code === 'invalid_type' && issue.input === undefined && !('received' in issue && issue.received)) {
    if (valueAt(value, issue.path) === undefined && issue.path.length > 0)
      throw new SpoutError('MissingField', { field: pathText(path) })
  }
  throw new SpoutError('InvalidField', { field: pathText(path) || '(body)', reason: reasonOf(issue) })
}

/**
 * Parses an object that another version may have stored. It drops unknown fields, at every depth. So after a downgrade
 * the objects of the later version are usable, without its features.
 * @throws SpoutError MissingField or InvalidField, as `parseAs`
 */
export function parseStored<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  let known = value
  for (;;) {
    const result = schema.safeParse(known)
    if (result.success) return result.data
    const unknown = result.error.issues.map(likelyMeant).filter((issue) => issue.code === 'unrecognized_keys')
    if (unknown.length === 0) return parseAs(schema, known)
    known = structuredClone(known)
    for (const { path, keys } of unknown)
      for (const key of keys) delete (valueAt(known, path) as Record<string, unknown>)[key]
  }
}

type Issue = z.core.$ZodIssue

/** The issue of the alternative of a union that the value resembles most. */
function likelyMeant(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const [nearest] = issue.errors.toSorted((a, b) => distance(a) - distance(b))
  const inner = nearest?.[0]
  return inner === undefined ? issue : likelyMeant({ ...inner, path: [...issue.path, ...inner.path] })
}

/** How little a value resembles an alternative: another type or tag weighs most, then each unknown field. */
const distance = (issues: readonly Issue[]): number =>
  issues.reduce((sum, { code, path, ...issue }) => {
    if (path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')) return sum + 1_000_000
    return sum + ('keys' in issue ? issue.keys.length * 1000 : 1)
  }, 0)

/** Our text for an issue of zod, or the schema's own text. */
function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${measure(issue.origin)} at least ${issue.minimum}${unit(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${measure(issue.origin)} at most ${issue.maximum}${unit(issue.origin, issue.maximum)}`
    default:
      return issue.message
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const measure = (origin: string): string => (origin === 'string' || origin === 'array' ? 'have' : 'be')
function unit(origin: string, count: number | bigint): string {
  const one = origin === 'string' ? ' character' : origin === 'array' ? ' item' : null
  return one === null ? '' : `${one}${Number(count) === 1 ? '' : 's'}`
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, part) => (at === null || typeof at !== 'object' ? undefined : (at as Record<PropertyKey, unknown>)[part]),
    value,
  )
