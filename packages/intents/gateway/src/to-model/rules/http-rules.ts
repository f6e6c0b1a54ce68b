import { type RouteContent, type RouteContentInput, routeOf } from '@spout/connector'
import { whyUnusable } from '@spout/model/regex'
import type { HttpRouteMatch, HttpRouteObject, HttpRouteRule } from '../../objects/http-route.ts'
import type { BackendRef } from '../../objects/references.ts'
import { type Backend, poolNameOf } from '../backends/backends.ts'
import { byHostKind } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { routeNameOf } from '../fields/route-names.ts'
import { optionsOf, type WantedMirror } from './filters.ts'
import { conditionsOf, hostConditions, pathOf } from './matches.ts'
import { type MatchRank, type Precedence, precedenceOf, rankOfMatch } from './precedence.ts'
import { retryOf } from './retry.ts'
import type { CompiledRules, PlacedRoute, ResolveBackend, RouteListener } from './route-kind.ts'
import { sharesOf } from './shares.ts'

type ActionInput = RouteContentInput['action']

const EVERY_REQUEST: HttpRouteMatch = {}

/** The differences between kinds of routes that compile like HTTPRoutes. */
export interface RuleDialect {
  /** The HTTP status for the share of references that do not resolve, and of a rule without backends. */
  readonly unresolvedCode: 500 | 503
  /** The rank of a match among those of one host. @param index the match's place in the rule */
  readonly rankOf: (match: HttpRouteMatch, rule: number, index: number) => MatchRank
}
const OF_HTTP: RuleDialect = { unresolvedCode: 500, rankOf: rankOfMatch }

/**
 * Compiles the rules of a route for one listener, to a route of the load balancer for each match and kind of host.
 * @param hosts the hosts that the route serves there
 */
export function compileRules(
  { metadata, rules }: Pick<HttpRouteObject, 'metadata'> & { readonly rules: readonly HttpRouteRule[] },
  hosts: readonly string[],
  listener: RouteListener,
  resolve: ResolveBackend,
  dialect = OF_HTTP,
): CompiledRules {
  const { namespace = '', name, uid = '', creationTimestamp: createdAt = '' } = metadata
  const order = { createdAt, key: `${namespace}/${name}` }
  const routes: PlacedRoute[] = []
  const backends = new Map<string, Backend>()
  const dropped = new Map<number, Objection>()
  let unresolved: Objection | null = null
  const poolOf = (ref: BackendRef): string | null => {
    const found = resolve(ref)
    if ('unresolved' in found) {
      unresolved ??= found.unresolved
      return null
    }
    if (found.tls === null) return null
    backends.set(poolNameOf(found), found)
    return poolNameOf(found)
  }
  for (const [at, rule] of rules.entries()) {
    const names = { uid, at, code: dialect.unresolvedCode }
    const made = compileRule(rule, hosts, listener, poolOf, names, (host, match, index) =>
      precedenceOf(host, dialect.rankOf(match, at, index), order, at, index),
    )
    if ('invalid' in made) dropped.set(at, made.invalid)
    else routes.push(...made.routes)
  }
  return { routes, backends, dropped, unresolved }
}

/**
 * @param poolOf resolves a reference to the name of a pool; null when it does not resolve, or its TLS cannot be
 * verified
 */
function compileRule(
  rule: HttpRouteRule,
  hosts: readonly string[],
  listener: RouteListener,
  poolOf: (ref: BackendRef) => string | null,
  { uid, at, code }: { readonly uid: string; readonly at: number; readonly code: 500 | 503 },
  precedence: (host: string, match: HttpRouteMatch, index: number) => Precedence,
): { readonly routes: readonly PlacedRoute[] } | { readonly invalid: Objection } {
  const matches = rule.matches === undefined || rule.matches.length === 0 ? [EVERY_REQUEST] : rule.matches
  const routes: PlacedRoute[] = []
  // Every reference is resolved, also those of a rule that is dropped or redirects, because the status reports them.
  const backends = (rule.backendRefs ?? []).map((ref) => ({ pool: poolOf(ref), weight: ref.weight ?? 1 }))
  for (const [index, match] of matches.entries()) {
    const options = optionsOf(rule, pathOf(match.path), listener)
    if ('invalid' in options) return options
    const again = retryOf(rule.retry)
    if ('invalid' in again) return again
    const shares = sharesOf(backends, options.ofBackends)
    if ('invalid' in shares) return shares
    const action: ActionInput =
      options.redirect ??
      (shares.pools.length === 0
        ? { type: 'respond', code }
        : {
            type: 'forward',
            pools: [...shares.pools],
            ...(shares.unresolved === 0 ? {} : { answered: { code, weight: shares.unresolved } }),
            ...(options.filters.length === 0 ? {} : { filters: [...options.filters] }),
            ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
            ...(again.retry === undefined ? {} : { retry: again.retry }),
            ...mirrorsOf(options.mirrors, poolOf),
          })
    for (const same of byHostKind(hosts)) {
      const conditions = [...hostConditions(same), ...conditionsOf(match)]
      const [host = ''] = same
      const name = routeNameOf(`${uid}/${at}/${index}`, `${listener.name}/${host}`)
      const made = routeOf({ name, conditions, action }, `rules[${at}]`)
      const why = 'refusal' in made ? made.refusal.message : unusableExpression(made.value)
      if ('refusal' in made || why !== null) return { invalid: objection('UnsupportedValue', `rules[${at}]: ${why}`) }
      routes.push({ precedence: precedence(host, match, index), content: made.value })
    }
  }
  return { routes }
}

/**
 * Why an expression cannot be used; null when all can. An unusable one would make the control plane refuse every
 * change.
 */
function unusableExpression({ conditions }: RouteContent): string | null {
  const expressions = conditions.flatMap((one) => ('compare' in one && one.compare === 'regex' ? one.values : []))
  const [why = null] = expressions.flatMap((expression) => whyUnusable(expression, false) ?? [])
  return why === null ? null : `The expression ${why}.`
}

/** One mirror for each pool, with the sum of the percentages. Backends that do not resolve get no copies. */
function mirrorsOf(mirrors: readonly WantedMirror[], poolOf: (ref: BackendRef) => string | null) {
  const percents = new Map<string, number>()
  for (const { ref, percent } of mirrors) {
    const pool = poolOf(ref)
    if (pool !== null) percents.set(pool, Math.min(100, (percents.get(pool) ?? 0) + percent))
  }
  return percents.size === 0 ? {} : { mirrors: [...percents].map(([pool, percent]) => ({ pool, percent })) }
}
