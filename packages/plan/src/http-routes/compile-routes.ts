import { listDifference } from '@spout/model/list-difference'
import { isHostKey, isPathKey, isTested, type MethodCondition, type TestedCondition } from '@spout/model/route-keys'
import { SharedMap } from '@spout/model/shared-map'
import type { ConditionalRoute } from './conditional-route.ts'
import {
  changedClasses,
  type HostCandidates,
  type HostClass,
  hostClasses,
  hostClassKey,
  hostHolds,
} from './host-classes.ts'
import { lookupText, type PathClass, pathClasses, pathHolds } from './path-classes.ts'

export { type HostClass, lookupText }

/** The route that takes a request; null if none does. */
export type Choice<Route> = Route | null

/** A condition that remains to be tested when host and path of a request are known. */
export type Test = MethodCondition | TestedCondition

/**
 * Decides which route takes a request whose host and path are known: the same `route` for all; or one by method; or the
 * first whose `tests` hold. `other` takes the other methods, and the requests for which no route's tests hold.
 */
export type Outcome<Route> =
  | { readonly route: Choice<Route> }
  | { readonly methods: ReadonlyMap<string, Choice<Route>>; readonly other: Choice<Route> }
  | { readonly tests: readonly RouteTests<Route>[]; readonly other: Choice<Route> }

/** A route that takes the requests for which all of its tests hold. It has at least one test. */
export interface RouteTests<Route> {
  readonly all: readonly Test[]
  readonly route: Route
}

/** The compiled routes for all requests whose host is in one class, by path. */
export interface CompiledHost<Route> extends HostCandidates<Route> {
  /** Those of `candidates` that can take a request, in their order. */
  readonly routes: readonly Route[]
  /**
   * Of the rows whose `lookupText` a request's path begins with, the one with the longest applies. The first row is for
   * all paths. It is the same object as before if no route of the class differs.
   */
  readonly paths: readonly PathRow<Route>[]
  /** How many steps it took to compile `paths`. */
  readonly steps: number
}

interface PathRow<Route> {
  readonly path: PathClass
  readonly outcome: Outcome<Route>
}

export interface CompiledRoutes<Route> {
  readonly routes: readonly Route[]
  /** By `hostClassKey`. */
  readonly hosts: SharedMap<CompiledHost<Route>>
  /** How many steps it takes to compile everything. */
  readonly steps: number
}

/** Limit of steps, of some 5 us each. It also bounds the number of rows. */
const MOST_STEPS = { base: 100_000, perRoute: 25 } as const

/**
 * Compiles routes to rows that two lookups find: by the class of the request's host, and then by the class of its path.
 * Within a class every condition on host or path has one outcome, which is computed here. Pure.
 * @param routes in their order: the first whose conditions all hold takes the request
 * @param before an earlier table. Classes that no changed route concerns are taken from it
 * @returns null if it takes too many steps: many hosts, and many routes that name no host
 */
export function compileRoutes<Route extends ConditionalRoute>(
  routes: readonly Route[],
  before: CompiledRoutes<Route> | null = null,
): CompiledRoutes<Route> | null {
  if (before?.routes === routes) return before
  const changed = before && changedIn(before, routes)
  const hosts = ((changed && before?.hosts) ?? SharedMap.empty<CompiledHost<Route>>()).draft()
  let steps = changed && before ? before.steps : 0
  for (const key of changed?.keys() ?? []) {
    steps -= stepsOf(hosts.get(key))
    hosts.delete(key)
  }
  const most = MOST_STEPS.base + routes.length * MOST_STEPS.perRoute
  for (const one of changed?.values() ?? hostClasses(routes)) {
    if (one === null) continue
    const key = hostClassKey(one.host)
    const compiled = compileHost(one, before?.hosts.get(key), most - steps)
    if (compiled === null) return null
    steps += stepsOf(compiled)
    hosts.set(key, compiled)
  }
  return steps > most ? null : { routes, hosts: hosts.done(), steps }
}

const stepsOf = (host: CompiledHost<unknown> | undefined): number =>
  host === undefined ? 0 : host.steps + host.candidates.length

/** The classes that may differ; null: all may. A route that moved counts as removed and added. */
function changedIn<Route extends ConditionalRoute>(
  { routes: then, hosts }: CompiledRoutes<Route>,
  now: readonly Route[],
) {
  const { gone, come, moved } = listDifference(then, now)
  return changedClasses(hosts, [...gone, ...moved], [...come, ...moved], now)
}

/** @returns null if it takes more steps than `most` */
function compileHost<Route extends ConditionalRoute>(
  one: HostCandidates<Route>,
  before: CompiledHost<Route> | undefined,
  most: number,
): CompiledHost<Route> | null {
  const applying = one.candidates.filter(({ conditions }) =>
    conditions.every((each) => !isHostKey(each) || hostHolds(each, one.host)),
  )
  const routes = untilTaken(applying)
  if (before !== undefined && sameItems(before.routes, routes)) return { ...before, ...one }
  const steps = { left: most }
  const paths = compilePaths(routes, steps)
  return paths && { ...one, routes, paths, steps: most - steps.left }
}

const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at])

/** Routes that take no request, because earlier ones take all that they match. */
export function unreachableRoutes<Route extends ConditionalRoute>({
  routes,
  hosts,
}: CompiledRoutes<Route>): readonly Route[] {
  const reached = new Set<Choice<Route>>()
  for (const { paths } of hosts.values())
    for (const { outcome } of paths) for (const choice of choicesOf(outcome)) reached.add(choice)
  return routes.filter((route) => !reached.has(route))
}

/** The routes up to the first one that takes all requests of the class. */
function untilTaken<Route extends ConditionalRoute>(applying: readonly Route[]): readonly Route[] {
  const end = applying.findIndex(({ conditions }) => conditions.every(isHostKey))
  return end < 0 ? applying : applying.slice(0, end + 1)
}

function compilePaths<Route extends ConditionalRoute>(
  applying: readonly Route[],
  steps: { left: number },
): readonly PathRow<Route>[] | null {
  const rows: PathRow<Route>[] = []
  const prefixes = new Map<string, Outcome<Route>>()
  for (const { path, candidates } of pathClasses(applying)) {
    steps.left -= candidates.length + 1
    if (steps.left < 0) return null
    const outcome = outcomeOf(
      candidates.filter(({ conditions }) => conditions.every((each) => !isPathKey(each) || pathHolds(each, path))),
    )
    // Without a row, requests of this class find the row of the class around it, which has the same outcome.
    if (path.text !== '' && sameOutcome(outcome, outcomeAround(prefixes, path))) continue
    if (path.is === 'prefix') prefixes.set(path.text, outcome)
    rows.push({ path, outcome })
  }
  return rows
}

/**
 * The outcome that a lookup finds for a path class without a row of its own.
 * @param prefixes outcomes of the rows whose prefixes are shorter than `path`
 */
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

/** @param live routes whose conditions on host and path hold, in order */
function outcomeOf<Route extends ConditionalRoute>(live: readonly Route[]): Outcome<Route> {
  const end = live.findIndex((route) => testsOf(route).length === 0)
  const tried = end < 0 ? live : live.slice(0, end)
  const other = end < 0 ? null : live[end]!
  if (tried.length === 0) return { route: other }
  if (!tried.some(({ conditions }) => conditions.some(isTested))) return byMethod(tried, other)
  return { tests: tried.map((route) => ({ all: testsOf(route), route })), other }
}

const testsOf = ({ conditions }: ConditionalRoute): readonly Test[] =>
  conditions.filter((each): each is Test => each.on === 'method' || isTested(each))

/**
 * @param tried routes whose only remaining conditions are on the method
 * @param last takes the requests that none of them takes
 */
function byMethod<Route extends ConditionalRoute>(tried: readonly Route[], last: Choice<Route>): Outcome<Route> {
  const choose = (method: string | null): Choice<Route> =>
    tried.find(({ conditions }) => conditions.every((each) => each.on !== 'method' || methodHolds(each, method))) ??
    last
  const other = choose(null)
  const named = new Set(
    tried.flatMap(({ conditions }) => conditions.flatMap((each) => (each.on === 'method' ? each.values : []))),
  )
  const methods = new Map([...named].map((method) => [method as string, choose(method)] as const))
  for (const [method, choice] of methods) if (choice === other) methods.delete(method)
  return methods.size === 0 ? { route: other } : { methods, other }
}

const methodHolds = ({ values, not }: MethodCondition, method: string | null): boolean =>
  values.some((one) => one === method) !== not

const choicesOf = <Route>(outcome: Outcome<Route>): readonly Choice<Route>[] => {
  if ('route' in outcome) return [outcome.route]
  if ('methods' in outcome) return [...outcome.methods.values(), outcome.other]
  return [...outcome.tests.map(({ route }) => route), outcome.other]
}

function sameOutcome<Route>(a: Outcome<Route>, b: Outcome<Route> | undefined): boolean {
  if (b === undefined) return false
  if ('route' in a || 'route' in b) return 'route' in a && 'route' in b && a.route === b.route
  if (a.other !== b.other) return false
  if ('tests' in a || 'tests' in b) return 'tests' in a && 'tests' in b && sameTests(a.tests, b.tests)
  return (
    a.methods.size === b.methods.size &&
    [...a.methods].every(([method, choice]) => b.methods.has(method) && b.methods.get(method) === choice)
  )
}

/** Tests are a function of the route, so it is enough to compare the routes. */
const sameTests = <Route>(a: readonly RouteTests<Route>[], b: readonly RouteTests<Route>[]): boolean =>
  a.length === b.length && a.every(({ route }, at) => b[at]!.route === route)
