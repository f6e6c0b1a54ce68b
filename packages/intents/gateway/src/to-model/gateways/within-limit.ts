import { type ListenerContent, poolNamesOf, uidOf } from '@spout/connector'
import { MOST_ROUTES } from '@spout/model'
import { byAge, type RouteObject } from '../../objects/route.ts'

/** What routes say that a listener of the load balancer has no room for. */
export const BEYOND_LIMIT = `a port of a Gateway has at most ${MOST_ROUTES} routes, one for each match of a rule, and older HTTPRoutes and GRPCRoutes come first.`

export interface WithinLimit {
  readonly listeners: readonly ListenerContent[]
  /** UIDs of the objects whose routes are left out. */
  readonly beyond: ReadonlySet<string>
  /** Names of the pools that only these send to. */
  readonly unused: ReadonlySet<string>
}

/**
 * Leaves out the youngest objects of listeners that have more routes than they can: the control plane would refuse the
 * whole load balancer, and no change of any route would be followed any more. The routes of one object are served all or
 * not at all.
 * @param objects those that the routes are made of; asked for only if some are left out
 * @param most how many routes a listener can have
 */
export function withinLimit(
  listeners: readonly ListenerContent[],
  objects: () => Iterable<RouteObject>,
  most = MOST_ROUTES,
): WithinLimit {
  const full = listeners.filter(({ routes = [] }) => routes.length > most)
  if (full.length === 0) return { listeners, beyond: NOBODY, unused: NOBODY }
  const ordered = [...objects()].sort(byAge).map(uidOf)
  const known = new Set(ordered)
  const beyond = new Set(full.flatMap((listener) => beyondIn(listener, ordered, known, most)))
  const stays = ({ name }: { readonly name: string }): boolean => !beyond.has(ownerOf(name))
  const all = listeners.flatMap(({ routes = [] }) => routes)
  const used = new Set(all.filter(stays).flatMap(poolNamesOf))
  return {
    listeners: listeners.map((one) => (one.routes === undefined ? one : { ...one, routes: one.routes.filter(stays) })),
    beyond,
    unused: new Set(all.flatMap(poolNamesOf).filter((pool) => !used.has(pool))),
  }
}

const NOBODY: ReadonlySet<string> = new Set()

/** The first part of a route's name: the UID of its object. Routes that every listener has have another word there. */
const ownerOf = (name: string): string => name.split('/', 1)[0] ?? ''

function beyondIn(
  { routes = [] }: ListenerContent,
  ordered: readonly string[],
  known: ReadonlySet<string>,
  most: number,
): readonly string[] {
  const counts = new Map<string, number>()
  let room = most
  for (const { name } of routes) {
    const owner = ownerOf(name)
    if (known.has(owner)) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    else room--
  }
  return ordered.filter((uid) => {
    const count = counts.get(uid) ?? 0
    if (count > room) return true
    room -= count
    return false
  })
}
