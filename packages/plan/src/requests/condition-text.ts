import type { RouteCondition } from '@spout/model'

const WORDS: Readonly<Record<string, readonly [is: string, isNot: string]>> = {
  exact: ['is', 'is not'],
  'one-label': ['is one label before', 'is not one label before'],
  'any-labels': ['is below', 'is not below'],
  elements: ['is under', 'is not under'],
  prefix: ['begins with', 'does not begin with'],
  'ends-with': ['ends with', 'does not end with'],
  contains: ['contains', 'does not contain'],
  regex: ['matches', 'does not match'],
  in: ['is in', 'is not in'],
}

const compareOf = (condition: RouteCondition): string =>
  condition.on === 'source' ? 'in' : 'compare' in condition ? condition.compare : 'exact'

/** The part of a request that a condition looks at, such as `header x-beta`. */
export const subjectText = (condition: RouteCondition): string =>
  'name' in condition ? `${condition.on.replace('-', ' ')} ${condition.name}` : condition.on.replace('-', ' ')

/** A condition as people say it: `path is under /cart or /basket`. */
export function conditionText(condition: RouteCondition): string {
  const [is, isNot] = WORDS[compareOf(condition)] ?? ['is', 'is not']
  return `${subjectText(condition)} ${condition.not ? isNot : is} ${condition.values.join(' or ')}`
}

/** All conditions of a route. */
export const conditionsText = (conditions: readonly RouteCondition[]): string =>
  conditions.length === 0 ? 'every request' : conditions.map(conditionText).join(' and ')
