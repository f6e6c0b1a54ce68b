import type { RouteCondition } from '@spout/model'
import type { ConditionalRoute } from './conditional-route.ts'
import { type HostClass, hostClasses, hostHolds } from './host-classes.ts'
import { lookupText, type PathClass, pathClasses, pathHolds } from './path-classes.ts'

export { type HostClass, lookupText }

/** The route that takes a request; null: none does. */
export type Choice<Route> = Route | null

/** One route for all methods, or a choice by method. `other` takes the methods that are not named. */
export type Outcome<Route> =
  | { readonly route: Choice<Route> }
  | { readonly methods: ReadonlyMap<string, Choice<Route>>; readonly other: Choice<Route> }

/** Requests whose host is in one class, by path. The first row is for all paths. */
export interface CompiledHost<Route> {
  readonly host: HostClass
  /** The one whose `lookupText` is the longest counts. */
  readonly paths: readonly { readonly path: PathClass; readonly outcome: Outcome<Route> }[]
}

/** Bounds the work, some 5 us a step, and with it the number of rows. */
const MOST_STEPS = { base: 100_000, perRoute: 25 } as const

/**
 * Compiles routes to rows that two lookups find: the class of the request's host, and in it the class of its path.
 * In a class every condition on host and path is constant, so its outcome is known. Pure.
 * @param routes in their order: the first whose conditions all hold takes the request
 * @returns null if too many hosts meet too many routes that name none
 */
export function compileRoutes<Route extends ConditionalRoute>(
  routes: readonly Route[],
): readonly CompiledHost<Route>[] | null {
  const steps = { left: MOST_STEPS.base + routes.length * MOST_STEPS.perRoute }
  const hosts: CompiledHost<Route>[] = []
  for (const { host, candidates } of hostClasses(routes)) {
    steps.left -= candidates.length
    const applying = candidates.filter((route) => holds(route, 'host', (each) => hostHolds(each, host)))
    const paths = compilePaths(untilTaken(applying), steps)
    if (paths === null) return null
    hosts.push({ host, paths })
  }
  return hosts
}

/** Routes that take no request: earlier ones take all of theirs. */
export function unreachableRoutes<Route extends ConditionalRoute>(
  routes: readonly Route[],
  compiled: readonly CompiledHost<Route>[],
): readonly Route[] {
  const reached = new Set<Choice<Route>>()
  for (const { paths } of compiled)
    for (const { outcome } of paths) for (const choice of choicesOf(outcome)) reached.add(choice)
  return routes.filter((route) => !reached.has(route))
}

/** Routes behind one that takes everything are never tried. */
function untilTaken<Route extends ConditionalRoute>(applying: readonly Route[]): readonly Route[] {
  const end = applying.findIndex(({ conditions }) => conditions.every(({ on }) => on === 'host'))
  return end < 0 ? applying : applying.slice(0, end + 1)
}

function compilePaths<Route extends ConditionalRoute>(
  applying: readonly Route[],
  steps: { left: number },
): CompiledHost<Route>['paths'] | null {
  const rows: { path: PathClass; outcome: Outcome<Route> }[] = []
  const prefixes = new Map<string, Outcome<Route>>()
  for (const { path, candidates } of pathClasses(applying)) {
    steps.left -= candidates.length + 1
    if (steps.left < 0) return null
    const outcome = byMethod(candidates.filter((route) => holds(route, 'path', (each) => pathHolds(each, path))))
    // Without its row the requests of this class are found in the class around it.
    if (path.text !== '' && sameOutcome(outcome, outcomeAround(prefixes, path))) continue
    if (path.is === 'prefix') prefixes.set(path.text, outcome)
    rows.push({ path, outcome })
  }
  return rows
}

/** @param prefixes the rows by prefix that are shorter than `path` */
function outcomeAround<Route>(
  prefixes: ReadonlyMap<string, Outcome<Route>>,
  path: PathClass,
): Outcome<Route> | undefined {
  const { text, ends } = lookupText(path)
  for (let length = ends ? text.length : text.length - 1; length >= 0; length--) {
    const outcome = prefixes.get(text.slice(0, length))
    if (outcome !== undefined) return outcome
  }
  return undefined
}

/** @param live routes whose other conditions hold, in order */
function byMethod<Route extends ConditionalRoute>(live: readonly Route[]): Outcome<Route> {
  const [first] = live
  if (first === undefined || !first.conditions.some(({ on }) => on === 'method')) return { route: first ?? null }
  const choose = (method: string | null): Choice<Route> =>
    live.find((route) => holds(route, 'method', ({ values, not }) => values.some((one) => one === method) !== not)) ??
    null
  const other = choose(null)
  const named = new Set(
    live.flatMap(({ conditions }) => conditions.flatMap((each) => (each.on === 'method' ? each.values : []))),
  )
  const methods = new Map([...named].map((method) => [method as string, choose(method)] as const))
  for (const [method, choice] of methods) if (choice === other) methods.delete(method)
  return methods.size === 0 ? { route: other } : { methods, other }
}

type Subject = RouteCondition['on']

/** Whether all conditions of a route on one subject hold. */
const holds = <On extends Subject>(
  route: ConditionalRoute,
  on: On,
  test: (condition: RouteCondition & { readonly on: On }) => boolean,
): boolean =>
  route.conditions.every((condition) => condition.on !== on || test(condition as RouteCondition & { readonly on: On }))

const choicesOf = <Route>(outcome: Outcome<Route>): readonly Choice<Route>[] =>
  'route' in outcome ? [outcome.route] : [...outcome.methods.values(), outcome.other]

function sameOutcome<Route>(a: Outcome<Route>, b: Outcome<Route> | undefined): boolean {
  if (b === undefined) return false
  if ('route' in a || 'route' in b) return 'route' in a && 'route' in b && a.route === b.route
  const same = (method: string, choice: Choice<Route>): boolean => b.methods.get(method) === choice
  return (
    a.other === b.other &&
    a.methods.size === b.methods.size &&
    [...a.methods].every(([method, choice]) => b.methods.has(method) && same(method, choice))
  )
}
