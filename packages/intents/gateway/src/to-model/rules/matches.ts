import type { RouteContentInput } from '@spout/connector'
import type { HttpRouteMatch, NamedMatch } from '../../objects/http-route.ts'
import { ANY_HOST, isWildcard, parentDomain } from '../fields/hostnames.ts'

type ConditionInput = NonNullable<RouteContentInput['conditions']>[number]

/** The conditions of one match, except that on the host. */
export function conditionsOf({ path, headers = [], queryParams = [], method }: HttpRouteMatch): ConditionInput[] {
  return [
    ...pathConditions(path),
    ...(method === undefined ? [] : [{ on: 'method', values: [method] } as ConditionInput]),
    ...firstOfEach(headers, (name) => name.toLowerCase()).map((one) => namedCondition('header', one)),
    ...firstOfEach(queryParams, (name) => name).map((one) => namedCondition('query', one)),
  ]
}

/**
 * The condition on hosts; empty for all names.
 * @param hosts a group of `byHostKind`: exact names, one wildcard, or all names
 */
export function hostConditions(hosts: readonly string[]): ConditionInput[] {
  const [first] = hosts
  if (first === undefined || first === ANY_HOST) return []
  return isWildcard(first)
    ? [{ on: 'host', compare: 'any-labels', values: hosts.map(parentDomain) }]
    : [{ on: 'host', compare: 'exact', values: [...hosts] }]
}

function pathConditions(path: HttpRouteMatch['path']): ConditionInput[] {
  const { type, value } = pathOf(path)
  if (type === 'Exact') return [{ on: 'path', compare: 'exact', values: [value] }]
  // The API leaves open how an expression is anchored. Like most implementations, we match the whole path.
  if (type === 'RegularExpression') return [{ on: 'path', compare: 'regex', values: [`^(?:${value})$`] }]
  return value === '/' ? [] : [{ on: 'path', compare: 'elements', values: [value] }]
}

/** The path of a match with its defaults. The trailing slash of a prefix is removed, because it has no meaning. */
export function pathOf(path: HttpRouteMatch['path']): {
  readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression'
  readonly value: string
} {
  const type = path?.type ?? 'PathPrefix'
  const value = path?.value ?? '/'
  return { type, value: type === 'PathPrefix' ? value.replace(/(?<=.)\/+$/, '') : value }
}

const namedCondition = (on: 'header' | 'query', { type = 'Exact', name, value }: NamedMatch): ConditionInput =>
  type === 'Exact'
    ? { on, name, compare: 'exact', values: [value] }
    : { on, name, compare: 'regex', values: [`^(?:${value})$`] }

/** Only the first of several entries with the same name counts. */
function firstOfEach(all: readonly NamedMatch[], keyOf: (name: string) => string): readonly NamedMatch[] {
  const first = new Map<string, NamedMatch>()
  for (const one of all) if (!first.has(keyOf(one.name))) first.set(keyOf(one.name), one)
  return [...first.values()]
}
