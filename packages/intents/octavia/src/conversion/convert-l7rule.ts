import { MOST_WILDCARD_LABELS, type RouteCondition, routeCondition } from '@spout/model'
import type { OctaviaRule } from '../terms/octavia-resources.ts'
import { isOneOf, type RuleCompare, type RuleType } from '../terms/words.ts'
import { OctaviaFault } from '../wire/fault.ts'
import { pythonText } from '../wire/python-text.ts'

const TEXT_COMPARES = ['CONTAINS', 'ENDS_WITH', 'EQUAL_TO', 'REGEX', 'STARTS_WITH'] as const
/** The comparisons that Octavia allows for each type. */
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
 * Converts a rule to the condition of a route.
 * @throws OctaviaFault for what Octavia refuses or what is not supported here
 */
export function conditionOf({ type, compare, key, value, invert }: OctaviaRule): RouteCondition {
  if (value === '') throw invalidRule('L7 rule type requires a value')
  if ((type === 'HEADER' || type === 'COOKIE') && (key === null || key === ''))
    throw invalidRule('L7 rule type requires a key')
  const ofClient = clientRuleProblem({ type, compare, key, value })
  if (ofClient !== null) throw invalidRule(ofClient)
  if (!isOneOf(COMPARES[type])(compare)) throw invalidRule('invalid comparison type for rule type')
  const { not = false, ...condition } = conditionFor({ type, compare, key, value })
  const parsed = routeCondition.safeParse({ ...condition, not: not !== invert })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue?.path.includes('name') ? `key ${pythonText(key)}` : `value ${pythonText(value)}`
  throw invalidRule(`${field} ${issue?.message ?? 'is not valid'}`)
}

type WhatIsCompared = Pick<OctaviaRule, 'type' | 'compare' | 'key' | 'value'>

/**
 * What is wrong with a rule about client certificates, in Octavia's words. Null when nothing is, and for other rules.
 */
function clientRuleProblem({ type, compare, key, value }: WhatIsCompared): string | null {
  const hasKey = key !== null && key !== ''
  if (type === 'SSL_DN_FIELD') return hasKey ? null : `L7rule type ${type} needs to specify a key and a value.`
  if (type !== 'SSL_CONN_HAS_CERT' && type !== 'SSL_VERIFY_RESULT') return null
  if (hasKey) return `L7rule type ${type} does not use the "key" field.`
  if (type === 'SSL_CONN_HAS_CERT' && value.toLowerCase() !== 'true')
    return `L7rule value ${value} is not a boolean True string.`
  if (type === 'SSL_VERIFY_RESULT' && !/^[0-9]+$/.test(value))
    return `L7rule type ${type} needs a int value, which is >= 0`
  return compare === 'EQUAL_TO' ? null : `L7rule type ${type} only supports the EQUAL_TO compare type.`
}

const WORDS: Readonly<Record<RuleCompare, string>> = {
  CONTAINS: 'contains',
  ENDS_WITH: 'ends-with',
  EQUAL_TO: 'exact',
  REGEX: 'regex',
  STARTS_WITH: 'prefix',
}

function conditionFor({ type, compare, key, value }: WhatIsCompared): {
  readonly not?: boolean
  readonly [field: string]: unknown
} {
  const word = WORDS[compare]
  switch (type) {
    case 'HOST_NAME':
      // This condition, all subdomains of a name, is found by a lookup instead of a comparison.
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
    case 'SSL_CONN_HAS_CERT':
      return { on: 'client-certificate', values: ['present'] }
    case 'SSL_VERIFY_RESULT':
      // A certificate that is not valid ends the handshake, so the result of every request is 0.
      return { on: 'client-certificate', values: ['present', 'absent'], not: Number(value) !== 0 }
    case 'SSL_DN_FIELD':
      return { on: 'client-name', name: key, compare: word, values: [value] }
  }
}

const isShort = (suffix: string): boolean => suffix.slice(1).split('.').length <= MOST_WILDCARD_LABELS
