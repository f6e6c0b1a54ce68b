import { type RouteCondition, routeCondition } from '@spout/model'
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
  const condition = offeredCondition(type, compare, value)
  if (condition === null)
    throw unsupportedOption(
      `type ${type} with compare_type ${compare}: requests are told apart by HOST_NAME (EQUAL_TO, or ENDS_WITH for .example.com) and PATH (EQUAL_TO, STARTS_WITH) here`,
    )
  const parsed = routeCondition.safeParse({ ...condition, not: invert })
  if (parsed.success) return parsed.data
  throw invalidRule(`value ${pythonText(value)} ${parsed.error.issues[0]?.message ?? 'is not valid'}`)
}

/** Null for what routes cannot say. */
function offeredCondition(type: RuleType, compare: RuleCompare, value: string): object | null {
  if (type === 'HOST_NAME' && compare === 'EQUAL_TO') return { on: 'host', compare: 'exact', values: [value] }
  if (type === 'HOST_NAME' && compare === 'ENDS_WITH' && value.startsWith('.'))
    return { on: 'host', compare: 'any-labels', values: [value.slice(1)] }
  if (type === 'PATH' && compare === 'EQUAL_TO') return { on: 'path', compare: 'exact', values: [value] }
  if (type === 'PATH' && compare === 'STARTS_WITH') return { on: 'path', compare: 'prefix', values: [value] }
  return null
}
