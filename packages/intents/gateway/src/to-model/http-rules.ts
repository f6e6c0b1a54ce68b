import { type RouteContentInput, routeOf } from '@spout/connector'
import type { HttpRouteMatch, HttpRouteObject, HttpRouteRule } from '../objects/http-route.ts'
import type { BackendRef } from '../objects/references.ts'
import type { CompiledRules, PlacedRoute, ResolveBackend, RouteListener } from '../route-kinds/route-kind.ts'
import { type Backend, poolNameOf } from './backends.ts'
import { optionsOf, type WantedMirror } from './filters.ts'
import { byHostKind } from './hostnames.ts'
import { conditionsOf, hostConditions, pathOf } from './matches.ts'
import { type Precedence, precedenceOf } from './precedence.ts'
import { routeNameOf } from './route-names.ts'
import { type Objection, objection } from './verdict.ts'

type ActionInput = RouteContentInput['action']

/** Gets the requests of references that do not resolve, beside others of the rule that do. It has no member. */
export const UNRESOLVED_POOL = 'unresolved'

const EVERY_REQUEST: HttpRouteMatch = {}
/** The answer of a rule without a backend that could answer. */
const NO_BACKEND: ActionInput = { type: 'respond', code: 500 }

/**
 * The rules of an HTTPRoute at one listener: a route of the load balancer for each match and kind of host.
 * @param hosts the names that it has there
 */
export function compileRules(
  route: HttpRouteObject,
  hosts: readonly string[],
  listener: RouteListener,
  resolve: ResolveBackend,
): CompiledRules {
  const { namespace = '', name, uid = '', creationTimestamp: createdAt = '' } = route.metadata
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
    backends.set(poolNameOf(found), found)
    return poolNameOf(found)
  }
  for (const [at, rule] of (route.spec.rules ?? [{}]).entries()) {
    const made = compileRule(rule, hosts, listener, poolOf, { uid, at }, (host, match, index) =>
      precedenceOf(host, match, order, at, index),
    )
    if ('invalid' in made) dropped.set(at, made.invalid)
    else routes.push(...made.routes)
  }
  return { routes, backends, dropped, unresolved }
}

function compileRule(
  rule: HttpRouteRule,
  hosts: readonly string[],
  listener: RouteListener,
  poolOf: (ref: BackendRef) => string | null,
  { uid, at }: { readonly uid: string; readonly at: number },
  precedence: (host: string, match: HttpRouteMatch, index: number) => Precedence,
): { readonly routes: readonly PlacedRoute[] } | { readonly invalid: Objection } {
  const matches = rule.matches === undefined || rule.matches.length === 0 ? [EVERY_REQUEST] : rule.matches
  const routes: PlacedRoute[] = []
  // Every reference is looked at, also those of a rule that is dropped or redirects.
  const shares = sharesOf(rule, poolOf)
  for (const [index, match] of matches.entries()) {
    const options = optionsOf(rule, pathOf(match.path), listener)
    if ('invalid' in options) return options
    const action: ActionInput =
      options.redirect ??
      (shares === null
        ? NO_BACKEND
        : {
            type: 'forward',
            pools: shares.map(([pool, weight]) => ({ pool, weight })),
            ...(options.filters.length === 0 ? {} : { filters: [...options.filters] }),
            ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
            ...mirrorsOf(options.mirrors, poolOf),
          })
    for (const same of byHostKind(hosts)) {
      const conditions = [...hostConditions(same), ...conditionsOf(match)]
      const [host = ''] = same
      const name = routeNameOf(`${uid}/${at}/${index}`, `${listener.name}/${host}`)
      const made = routeOf({ name, conditions, action }, `rules[${at}]`)
      if ('refusal' in made) return { invalid: objection('UnsupportedValue', `rules[${at}]: ${made.refusal.message}`) }
      routes.push({ precedence: precedence(host, match, index), content: made.value })
    }
  }
  return { routes }
}

/** Pools and weights; null when no backend can get requests. */
function sharesOf(
  { backendRefs = [] }: HttpRouteRule,
  poolOf: (ref: BackendRef) => string | null,
): readonly (readonly [pool: string, weight: number])[] | null {
  const weights = new Map<string, number>()
  let resolved = false
  for (const ref of backendRefs) {
    const pool = poolOf(ref)
    const { weight = 1 } = ref
    if (weight === 0) continue
    resolved ||= pool !== null
    const name = pool ?? UNRESOLVED_POOL
    weights.set(name, (weights.get(name) ?? 0) + weight)
  }
  return resolved ? [...weights] : null
}

function mirrorsOf(mirrors: readonly WantedMirror[], poolOf: (ref: BackendRef) => string | null) {
  const percents = new Map<string, number>()
  for (const { ref, percent } of mirrors) {
    const pool = poolOf(ref)
    if (pool !== null) percents.set(pool, Math.min(100, (percents.get(pool) ?? 0) + percent))
  }
  return percents.size === 0 ? {} : { mirrors: [...percents].map(([pool, percent]) => ({ pool, percent })) }
}
