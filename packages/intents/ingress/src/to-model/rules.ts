import { keyOf, type PortReference, type Refusal, type RouteContentInput, shown, uidOf } from '@spout/connector'
import type { Ingress, IngressBackend, IngressPath } from '@spout/kube'

/** A Service's port that a rule sends requests to. */
export interface RuleBackend {
  /** `namespace/name`. */
  readonly service: string
  readonly port: PortReference
}

/** One path of one host of an Ingress, or its default backend. */
export interface Rule {
  readonly ingress: Ingress
  /** The field that has it, such as `spec.rules[0].http.paths[1]`. */
  readonly field: string
  /** Host in lower case; empty for all hosts. A wildcard begins with `*.`. */
  readonly host: string
  /**
   * `regex`: the path is a regular expression. As in ingress-nginx, one such path makes all paths of its host
   * expressions.
   */
  readonly match: 'exact' | 'prefix' | 'regex' | 'default'
  /** A prefix has no trailing slash; an empty path matches every request. */
  readonly path: string
  readonly backend: RuleBackend | { readonly refusal: Refusal }
}

/** The hosts that an Ingress has rules for, in lower case; empty stands for all hosts. */
export const hostsOf = ({ spec }: Ingress): readonly string[] =>
  (spec?.rules ?? []).map(({ host = '' }) => host.toLowerCase())

/**
 * All rules of one Ingress, in its order. The default backend comes last.
 * @param hasRegex whether the paths of a host are expressions
 */
export function rulesOf(ingress: Ingress, hasRegex: (host: string) => boolean): readonly Rule[] {
  const { rules = [], defaultBackend } = ingress.spec ?? {}
  const hosts = hostsOf(ingress)
  const all = rules.flatMap(({ http }, at) => {
    const host = hosts[at] ?? ''
    const isRegex = hasRegex(host)
    return (http?.paths ?? []).map((one, index) =>
      ruleOf(ingress, host, one, `spec.rules[${at}].http.paths[${index}]`, isRegex),
    )
  })
  if (defaultBackend === undefined) return all
  const field = 'spec.defaultBackend'
  const backend = backendOf(ingress, defaultBackend, field)
  return [...all, { ingress, field, host: '', match: 'default', path: '', backend }]
}

/** Converts a path of an Ingress. `ImplementationSpecific`, which is up to us, means `Prefix`. */
function ruleOf(
  ingress: Ingress,
  host: string,
  { path = '', pathType, backend }: IngressPath,
  field: string,
  isRegex: boolean,
): Rule {
  const match = isRegex ? 'regex' : pathType === 'Exact' ? 'exact' : 'prefix'
  const keepsSlash = match === 'exact' || (match === 'regex' && path !== '/')
  return {
    ...{ ingress, field, host, match },
    path: keepsSlash ? path : path.replace(/\/+$/, ''),
    backend: backendOf(ingress, backend, `${field}.backend`),
  }
}

function backendOf({ metadata }: Ingress, { service, resource }: IngressBackend, field: string): Rule['backend'] {
  if (service !== undefined) return { service: `${metadata.namespace ?? ''}/${service.name}`, port: service.port ?? {} }
  const what = resource === undefined ? 'nothing' : `a ${shown(resource.kind)}`
  return { refusal: { reason: 'UnsupportedBackend', field, message: `It is ${what}; a Service is needed.` } }
}

/** A text that identifies the requests that a rule matches. Of rules with equal texts only one is served. */
export const textOf = ({ host, match, path }: Rule): string => `${match} ${host}${path}`

/**
 * The order in which rules are tried, the more specific first: a host before a wildcard before none, longer wildcards
 * first; then exact paths, then longer prefixes, and of expressions the longer text; default backends at the end. The
 * input must be sorted by age already, so that of expressions of equal length the older comes first.
 */
export function byPrecedence(a: Rule, b: Rule): number {
  for (const rank of [rankOfMatch, rankOfHost, labelsOf]) {
    const difference = rank(a) - rank(b)
    if (difference !== 0) return difference
  }
  if (a.host !== b.host) return a.host < b.host ? -1 : 1
  for (const rank of [rankOfPath, lengthOf]) {
    const difference = rank(a) - rank(b)
    if (difference !== 0) return difference
  }
  if (a.match === 'regex') return 0
  const [one, other] = [textOf(a), textOf(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

const rankOfMatch = ({ match }: Rule): number => (match === 'default' ? 1 : 0)
const rankOfHost = ({ host }: Rule): number => (host === '' ? 2 : host.startsWith('*.') ? 1 : 0)
/** Hosts with more labels come first. Only wildcards overlap in this way. */
const labelsOf = ({ host }: Rule): number => (host.startsWith('*.') ? -host.split('.').length : 0)
const rankOfPath = ({ match }: Rule): number => (match === 'exact' ? 0 : 1)
const lengthOf = ({ match, path }: Rule): number => (match === 'exact' ? 0 : -path.length)

/** Sorts the older Ingress first. */
export function byAge(a: Ingress, b: Ingress): number {
  const [one, other] = [ageOf(a), ageOf(b)]
  return one < other ? -1 : one > other ? 1 : 0
}
const ageOf = (ingress: Ingress): string => `${ingress.metadata.creationTimestamp ?? ''} ${keyOf(ingress)}`

type Conditions = NonNullable<RouteContentInput['conditions']>

/** The conditions of a rule's host. */
export const hostConditions = ({ host }: Pick<Rule, 'host'>): Conditions =>
  host === ''
    ? []
    : host.startsWith('*.')
      ? [{ on: 'host', compare: 'one-label', values: [host.slice(2)] }]
      : [{ on: 'host', compare: 'exact', values: [host] }]

/** The conditions of a rule's route. */
export function conditionsOf(rule: Rule): Conditions {
  const { match, path } = rule
  const hosts = hostConditions(rule)
  if (path === '') return hosts
  if (match === 'regex') return [...hosts, { on: 'path', compare: 'regex', values: [regexOf(path)] }]
  return [...hosts, { on: 'path', compare: match === 'exact' ? 'exact' : 'elements', values: [path] }]
}

/** The expression that ingress-nginx makes of a path: anchored at its start, ignoring case. */
export const regexOf = (path: string): string => `(?i)^${path}`

/** The name of a rule's route, unique in the load balancer. */
export const routeName = ({ ingress, field }: Rule): string => `${uidOf(ingress)}/${field}`
