import { type HostKeyCondition, isHostKey } from '@spout/model/route-keys'
import { Candidates } from './candidates.ts'
import type { ConditionalRoute } from './conditional-route.ts'

/**
 * Requests that the same conditions on the host hold for. A request is in the first of these classes that a table has:
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

/** The classes that routes make, and the routes that can hold in each, in their order. */
export function* hostClasses<Route extends ConditionalRoute>(
  routes: readonly Route[],
): Generator<{ readonly host: HostClass; readonly candidates: readonly Route[] }> {
  const classes = new Map<string, HostClass>([[hostClassKey(ANY), ANY]])
  const found = new Candidates<Route>()
  for (const route of routes) {
    const onHost = route.conditions.filter(isHostKey)
    for (const { compare: is, values } of onHost)
      for (const name of values) classes.set(hostClassKey({ is, name }), { is, name })
    const naming = onHost.find((condition) => !condition.not)
    found.add(
      route,
      naming?.values.map((name) => hostClassKey({ is: naming.compare, name })),
    )
  }
  for (const host of classes.values())
    yield { host, candidates: found.of([...namesCovering(host)].map((name) => hostClassKey(name))) }
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
