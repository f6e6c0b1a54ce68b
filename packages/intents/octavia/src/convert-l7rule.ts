import { MOST_WILDCARD_LABELS, type RouteCondition, routeCondition } from '@spout/model'
import type { OctaviaRule } from './octavia-resources.ts'
import { OctaviaFault, unsupportedOption } from './wire/fault.ts'
import { pythonText } from './wire/python-text.ts'
import { isOneOf, type RuleCompare, type RuleType } from './words.ts'

const TEXT_COMPARES = ['CONTAINS', 'ENDS_WITH', 'EQUAL_TO', 'REGEX', 'STARTS_WITH'] as const
/** Which comparisons Octavia has for each type. */
const COMPARES: Readonly<Record<RuleType, readonly RuleCompare[]>> = {
  COOKIE: TEXT_COMPARES,
  HEADER: TEXT_COMPARES,
  HOST_NAME: TEXT_COMPARES,
  PATH: TEXT_COMPARES,
  FILE_TYPE: ['EQUAL_TO', 'REGEX'],
  SSL_CONN_HAS_CERT: ['EQUAL_TO'],
  SSL_VERIFY_RESULT: ['EQUAL_TO'],
  SSL_DN_FIELD: TEXT_COMPARES,
}

const invalidRule = (why: string): OctaviaFault =>
  new OctaviaFault(400, `Error parsing L7Rule: Invalid L7 Rule: ${why}`)

/**
 * The condition of a route that a rule stands for.
 * @throws OctaviaFault for what Octavia refuses or what is not supported here
 */
export function conditionOf({ type, compare, key, value, invert }: OctaviaRule): RouteCondition {
  if (value === '') throw invalidRule('L7 rule type requires a value')
  if ((type === 'HEADER' || type === 'COOKIE') && (key === null || key === ''))
    throw invalidRule('L7 rule type requires a key')
  if (!isOneOf(COMPARES[type])(compare)) throw invalidRule('invalid comparison type for rule type')
  const condition = conditionFor({ type, compare, key, value })
  if (condition === null)
    throw unsupportedOption(
      `type ${type}: listeners here do not ask clients for certificates, so there is none to look at`,
    )
  const parsed = routeCondition.safeParse({ ...condition, not: invert })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.includes('name') ? `key ${pythonText(key)}` : `value ${pythonText(value)}`
  throw invalidRule(`${field} ${issue?.message ?? 'is not valid'}`)
}

const WORDS: Readonly<Record<RuleCompare, string>> = {
  CONTAINS: 'contains',
  ENDS_WITH: 'ends-with',
  EQUAL_TO: 'exact',
  REGEX: 'regex',
  STARTS_WITH: 'prefix',
}

/** Null for what routes cannot say. */
function conditionFor({
  type,
  compare,
  key,
  value,
}: Pick<OctaviaRule, 'type' | 'compare' | 'key' | 'value'>): object | null {
  const word = WORDS[compare]
  switch (type) {
    case 'HOST_NAME':
      // All subdomains of one name are found by a lookup.
      return compare === 'ENDS_WITH' && value.startsWith('.') && isShort(value)
        ? { on: 'host', compare: 'any-labels', values: [value.slice(1)] }
        : { on: 'host', compare: word, values: [value] }
    case 'PATH':
      return { on: 'path', compare: word, values: [value] }
    case 'FILE_TYPE':
      return compare === 'REGEX'
        ? { on: 'path', compare: 'regex', values: [`\\.(?:${value.replace(/^\^|\$$/g, '')})$`] }
        : { on: 'path', compare: 'ends-with', values: [`.${value}`] }
    case 'HEADER':
    case 'COOKIE':
      return { on: type.toLowerCase(), name: key, compare: word, values: [value] }
    default:
      return null
  }
}

const isShort = (suffix: string): boolean => suffix.slice(1).split('.').length <= MOST_WILDCARD_LABELS
