import { type HostKeyCondition, isHostKey } from '@spout/model/route-keys'
import { Candidates } from './candidates.ts'
import type { ConditionalRoute } from './conditional-route.ts'

/**
 * A class of hosts for which every condition on the host has the same outcome. A host is in the first of these classes
 * that exists: its own name (`exact`); the name without its first label (`one-label`); the longest name without one or
 * more of its first labels (`any-labels`); `any`.
 */
export interface HostClass {
  readonly is: HostKeyCondition['compare'] | 'any'
  /** The name in lower case; empty for `any`. */
  readonly name: string
}

const ANY: HostClass = { is: 'any', name: '' }

export const hostClassKey = ({ is, name }: HostClass): string => `${is} ${name}`

/** A class of hosts and the routes that can match in it. */
export interface HostCandidates<Route> {
  readonly host: HostClass
  /** How many conditions name it. At 0 the class does not exist, except `any`. */
  readonly named: number
  /** The routes that can match in it, in their order. */
  readonly candidates: readonly Route[]
}

/** The condition that limits a route to certain classes; undefined if it can match in all. */
const namingOf = ({ conditions }: ConditionalRoute): HostKeyCondition | undefined =>
  conditions.find((condition): condition is HostKeyCondition => isHostKey(condition) && !condition.not)

/** The classes that a route's conditions name, inverted or not. */
function* classesNamedBy({ conditions }: ConditionalRoute): Generator<HostClass> {
  for (const condition of conditions)
    if (isHostKey(condition)) for (const name of condition.values) yield { is: condition.compare, name }
}

const keysOf = ({ compare: is, values }: HostKeyCondition): readonly string[] =>
  values.map((name) => hostClassKey({ is, name }))

/** The classes that exist for these routes. */
export function* hostClasses<Route extends ConditionalRoute>(
  routes: readonly Route[],
): Generator<HostCandidates<Route>> {
  const classes = new Map([[hostClassKey(ANY), { host: ANY, named: 0 }]])
  const found = new Candidates<Route>()
  for (const route of routes) {
    const naming = namingOf(route)
    found.add(route, naming && keysOf(naming))
    for (const host of classesNamedBy(route)) {
      const key = hostClassKey(host)
      classes.set(key, { host, named: (classes.get(key)?.named ?? 0) + 1 })
    }
  }
  for (const { host, named } of classes.values())
    yield { host, named, candidates: found.of([...namesCovering(host)].map((name) => hostClassKey(name))) }
}

/** If more classes are touched, finding the routes of each takes longer than `hostClasses`. */
const MOST_CLASSES = 64

type HostsByKey<Route> = Iterable<readonly [key: string, host: HostCandidates<Route>]> & {
  get(key: string): HostCandidates<Route> | undefined
}

/**
 * The classes that may differ in a changed table, because a changed route can match in them or names them. By key; null
 * for a class that no longer exists.
 * @param before the classes of the earlier table
 * @param gone the routes that were removed
 * @param come the routes that were added. A route that changed its place is in both lists
 * @param routes all routes now
 * @returns null if all classes may differ, or many
 */
export function changedClasses<Route extends ConditionalRoute>(
  before: HostsByKey<Route>,
  gone: readonly Route[],
  come: readonly Route[],
  routes: readonly Route[],
): ReadonlyMap<string, HostCandidates<Route> | null> | null {
  const touched = classesTouchedBy([...gone, ...come], before)
  if (touched === null) return null
  const names = new Map<string, number>()
  const count = (route: Route, by: 1 | -1): void => {
    for (const host of classesNamedBy(route)) names.set(hostClassKey(host), (names.get(hostClassKey(host)) ?? 0) + by)
  }
  for (const route of gone) count(route, -1)
  for (const route of come) count(route, 1)
  const changed = new Map<string, HostCandidates<Route> | null>()
  for (const [key, host] of touched) {
    const named = (before.get(key)?.named ?? 0) + (names.get(key) ?? 0)
    const able = new Set<Route>(before.get(hostClassKey(ANY))?.candidates)
    const covering = [...namesCovering(host)].map((name) => hostClassKey(name))
    // Routes of a class that covers this one can match here, too.
    for (const name of covering) for (const route of before.get(name)?.candidates ?? []) able.add(route)
    for (const route of gone) able.delete(route)
    for (const route of come) if (namingOf(route) === undefined || isNamed(route, covering)) able.add(route)
    changed.set(key, named === 0 ? null : { host, named, candidates: inOrder(able, routes) })
  }
  return changed
}

/** To find the place of one route costs a hundredth of asking all routes whether they are among some. */
const FEW = 16

function inOrder<Route>(some: ReadonlySet<Route>, routes: readonly Route[]): readonly Route[] {
  if (some.size > FEW) return routes.filter((route) => some.has(route))
  return [...some]
    .map((route) => ({ route, at: routes.indexOf(route) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ route }) => route)
}

const isNamed = (route: ConditionalRoute, covering: readonly string[]): boolean => {
  const naming = namingOf(route)
  return naming !== undefined && keysOf(naming).some((key) => covering.includes(key))
}

/** The classes in which one of these routes can match, or which one of them names. Null: all, or many. */
function classesTouchedBy(
  routes: readonly ConditionalRoute[],
  known: Iterable<readonly [key: string, known: { readonly host: HostClass }]>,
): ReadonlyMap<string, HostClass> | null {
  const touched = new Map<string, HostClass>()
  const wildcards = new Set<string>()
  for (const route of routes) {
    const naming = namingOf(route)
    if (naming === undefined) return null
    for (const host of classesNamedBy(route)) touched.set(hostClassKey(host), host)
    if (naming.compare !== 'exact') for (const key of keysOf(naming)) wildcards.add(key)
  }
  if (wildcards.size > 0)
    for (const [key, { host }] of known)
      for (const name of namesCovering(host)) if (wildcards.has(hostClassKey(name))) touched.set(key, host)
  return touched.size > MOST_CLASSES ? null : touched
}

/** The conditions, as classes, that hold for all hosts of a class. */
function* namesCovering({ is, name }: HostClass): Generator<HostClass> {
  if (is === 'any') return
  yield { is, name }
  if (is === 'one-label') yield { is: 'any-labels', name }
  const [first = '', ...rest] = behindFirstLabel(name)
  if (first === '') return
  if (is === 'exact') yield { is: 'one-label', name: first }
  for (const suffix of [first, ...rest]) yield { is: 'any-labels', name: suffix }
}

/** `b.c` and `c` of `a.b.c`. */
function behindFirstLabel(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'))
}

/** Whether a condition holds for the hosts of a class. It has the same outcome for all of them. */
export const hostHolds = ({ compare, values, not }: HostKeyCondition, host: HostClass): boolean =>
  values.some((name) => [...namesCovering(host)].some((one) => one.is === compare && one.name === name)) !== not
