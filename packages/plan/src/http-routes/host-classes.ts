import { type HostKeyCondition, isHostKey } from '@spout/model/route-keys'
import { Candidates } from './candidates.ts'
import type { ConditionalRoute } from './conditional-route.ts'

/**
 * A class of requests: a condition on the host holds for all of them or for none. A request is in the first of these:
 * its host named exactly; the name behind its first label (`one-label`); the longest name behind more of its labels
 * (`any-labels`); `any`.
 */
export interface HostClass {
  readonly is: HostKeyCondition['compare'] | 'any'
  /** The name in lower case; empty for `any`. */
  readonly name: string
}

const ANY: HostClass = { is: 'any', name: '' }

export const hostClassKey = ({ is, name }: HostClass): string => `${is} ${name}`

/** A class of hosts, as the compiler gets it. */
export interface HostCandidates<Route> {
  readonly host: HostClass
  /** How often conditions name it. A class that none names is not there, other than `any`. */
  readonly named: number
  /** The routes that can hold in it, in their order. */
  readonly candidates: readonly Route[]
}

/** The condition that limits a route to hosts of certain names; undefined: it can hold in all classes. */
const namingOf = ({ conditions }: ConditionalRoute): HostKeyCondition | undefined =>
  conditions.find((condition): condition is HostKeyCondition => isHostKey(condition) && !condition.not)

/** The classes that a route's conditions name, inverted or not. */
function* classesNamedBy({ conditions }: ConditionalRoute): Generator<HostClass> {
  for (const condition of conditions)
    if (isHostKey(condition)) for (const name of condition.values) yield { is: condition.compare, name }
}

const keysOf = ({ compare: is, values }: HostKeyCondition): readonly string[] =>
  values.map((name) => hostClassKey({ is, name }))

/** The classes that routes make. */
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

/** Above it, looking at all routes for each class takes longer than finding all classes. */
const MOST_CLASSES = 64

type HostsByKey<Route> = Iterable<readonly [key: string, host: HostCandidates<Route>]> & {
  get(key: string): HostCandidates<Route> | undefined
}

/**
 * The classes that differ in a changed table, because a changed route can hold in them or names them, by their key; null
 * for those that are gone.
 * @param before the classes of the table before
 * @param gone routes that it lost. @param come routes that it got. The others are in the order in which they were; one
 * that is not is in both lists
 * @param routes all that it has
 * @returns null where these are many
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
    changed.set(key, named === 0 ? null : { host, named, candidates: routes.filter((route) => able.has(route)) })
  }
  return changed
}

const isNamed = (route: ConditionalRoute, covering: readonly string[]): boolean => {
  const naming = namingOf(route)
  return naming !== undefined && keysOf(naming).some((key) => covering.includes(key))
}

/** The classes in which one of these routes can hold, or which one of them names; null: all, or many. */
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

/** The names of conditions that hold for all hosts of a class. */
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

/** Whether a condition holds for the hosts of a class, all of which it decides alike. */
export const hostHolds = ({ compare, values, not }: HostKeyCondition, host: HostClass): boolean =>
  values.some((name) => [...namesCovering(host)].some((one) => one.is === compare && one.name === name)) !== not
