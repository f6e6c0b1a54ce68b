import { uidOf } from '@spout/connector'
import { MOST_REGEXES } from '@spout/model/regex'
import { byAge, type RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import { type Objection, objection } from '../fields/objection.ts'
import type { RouteAtListener } from './rivals.ts'

const NONE: ReadonlySet<string> = new Set()
const ANY_LISTENER = { name: '', protocol: 'HTTP', port: 80 }
const unresolved = objection('BackendNotFound', '')

interface Typed {
  readonly type?: string
}

/** The fields of HTTPRoutes and GRPCRoutes that may hold a regular expression. */
interface Ruled {
  readonly rules?: readonly {
    readonly matches?: readonly {
      readonly path?: Typed
      readonly method?: Typed | string
      readonly headers?: readonly Typed[]
      readonly queryParams?: readonly Typed[]
    }[]
  }[]
}

const isExpression = (one: Typed | string | undefined): boolean =>
  typeof one === 'object' && one.type === 'RegularExpression'

/** Whether a match of the route has a regular expression. */
const usesExpressions = ({ spec }: RouteObject): boolean =>
  ((spec as Ruled).rules ?? []).some(({ matches = [] }) =>
    matches.some(({ path, method, headers = [], queryParams = [] }) =>
      [path, method, ...headers, ...queryParams].some(isExpression),
    ),
  )

/**
 * Cache by spec. Compiling an expression is slow, and the expressions of all routes are counted again whenever a route
 * with expressions changes.
 */
const known = new WeakMap<RouteObject['spec'], ReadonlySet<string>>()

/** The regular expressions of a route in the form in which the load balancer has them; none if they are not valid. */
export function expressionsOf(route: RouteObject): ReadonlySet<string> {
  if (!usesExpressions(route)) return NONE
  const found = known.get(route.spec) ?? compiledExpressions(route)
  known.set(route.spec, found)
  return found
}

function compiledExpressions(route: RouteObject): ReadonlySet<string> {
  const { routes } = kindOf(route).compile(route, [''], ANY_LISTENER, () => ({ unresolved }))
  return new Set(
    routes.flatMap(({ content: { conditions } }) =>
      conditions.flatMap((one) => ('compare' in one && one.compare === 'regex' ? one.values : [])),
    ),
  )
}

/**
 * Refuses routes whose expressions would exceed the limit of a load balancer together with those of older routes.
 * Otherwise the control plane would refuse every change of the load balancer.
 * @returns objections by the UID of the route
 */
export function expressionsRefused(attached: Iterable<readonly RouteAtListener[]>): ReadonlyMap<string, Objection> {
  const used = new Set<string>()
  const refused = new Map<string, Objection>()
  const routes = new Set<RouteObject>()
  for (const own of attached) for (const { route } of own) if (expressionsOf(route).size > 0) routes.add(route)
  for (const route of [...routes].sort(byAge)) {
    const own = expressionsOf(route)
    const together = used.union(own)
    if (together.size > MOST_REGEXES) refused.set(uidOf(route), TOO_MANY)
    else for (const one of own) used.add(one)
  }
  return refused
}

const TOO_MANY = objection(
  'UnsupportedValue',
  `rules: a Gateway has at most ${MOST_REGEXES} different regular expressions, and older routes come first.`,
)
