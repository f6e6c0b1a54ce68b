import type { ParentRef } from '../objects/references.ts'
import { byAge, type RouteObject } from '../objects/route.ts'
import { kindOf } from '../route-kinds/all.ts'
import { gatewayOf, listenerSetOf } from '../to-model/listeners/listener-parents.ts'

/** The part of a reference that selects listeners of the parent: by name, by port, by both, or all of them. */
type Spot = Pick<ParentRef, 'sectionName' | 'port'>

/** The routes that refer to one spot of a parent. */
interface Standing {
  readonly spot: Spot
  readonly ids: Set<string>
}

interface Seen {
  readonly route: RouteObject
  readonly spots: ReadonlyMap<string, readonly Spot[]>
  /** Everything that decides with which routes it competes, and which of them is older. */
  readonly text: string
}

/**
 * Finds the routes that compete with a route for a listener. Only kinds with `takesWholeListener` compete: a listener
 * serves the oldest of them. Two routes count as competing when their references can select the same listener, whether
 * or not the listener allows them.
 */
export class CompetingRoutes {
  readonly #seen = new Map<string, Seen>()
  /** By kind and parent, then by spot. */
  readonly #standing = new Map<string, Map<string, Standing>>()

  /**
   * @param id `kind/namespace/name`
   * @returns the younger routes that may win or lose a listener by this change, sorted; none if it competes as before
   */
  put(id: string, route: RouteObject | undefined): readonly string[] {
    const before = this.#seen.get(id)
    const after = route !== undefined && kindOf(route).takesWholeListener ? seenOf(route) : undefined
    if (before?.text === after?.text) {
      if (after !== undefined) this.#seen.set(id, after)
      return []
    }
    const affected = new Set([...this.#youngerThan(before, id), ...this.#youngerThan(after, id)])
    this.#remove(id)
    if (after !== undefined) this.#add(id, after)
    return [...affected].sort()
  }

  /** The routes that compete with this one, sorted. */
  of(id: string): readonly string[] {
    return [...this.#at(this.#seen.get(id), id)].sort()
  }

  *#youngerThan(seen: Seen | undefined, id: string): Generator<string> {
    if (seen === undefined) return
    for (const other of this.#at(seen, id)) {
      const route = this.#seen.get(other)?.route
      if (route !== undefined && byAge(route, seen.route) > 0) yield other
    }
  }

  #at(seen: Seen | undefined, id: string): ReadonlySet<string> {
    const found = new Set<string>()
    for (const [parent, spots] of seen?.spots ?? [])
      for (const { spot, ids } of this.#standing.get(parent)?.values() ?? [])
        if (spots.some((own) => overlap(own, spot))) for (const other of ids) found.add(other)
    found.delete(id)
    return found
  }

  #add(id: string, seen: Seen): void {
    this.#seen.set(id, seen)
    for (const [parent, spots] of seen.spots) {
      const standing = this.#standing.get(parent) ?? new Map<string, Standing>()
      this.#standing.set(parent, standing)
      for (const spot of spots) {
        const at = standing.get(textOf(spot)) ?? { spot, ids: new Set() }
        standing.set(textOf(spot), { spot, ids: at.ids.add(id) })
      }
    }
  }

  #remove(id: string): void {
    for (const [parent, spots] of this.#seen.get(id)?.spots ?? []) {
      const standing = this.#standing.get(parent)
      for (const spot of spots) {
        const ids = standing?.get(textOf(spot))?.ids
        ids?.delete(id)
        if (ids?.size === 0) standing?.delete(textOf(spot))
      }
      if (standing?.size === 0) this.#standing.delete(parent)
    }
    this.#seen.delete(id)
  }
}

function seenOf(route: RouteObject): Seen {
  const { namespace = '', uid, creationTimestamp } = route.metadata
  const spots = Map.groupBy(route.spec.parentRefs ?? [], (ref) => {
    const set = listenerSetOf(ref, namespace)
    const parent = set === null ? `Gateway ${gatewayOf(ref, namespace, () => undefined)}` : `ListenerSet ${set}`
    return `${route.kind} ${parent}`
  })
  return {
    ...{ route, spots },
    text: JSON.stringify([uid, creationTimestamp, [...spots].map(([parent, all]) => [parent, all.map(textOf)])]),
  }
}

const textOf = ({ sectionName, port }: Spot): string => `${sectionName ?? ''} ${port ?? ''}`

const overlap = (one: Spot, other: Spot): boolean =>
  areAlike(one.sectionName, other.sectionName) && areAlike(one.port, other.port)
const areAlike = <T>(one: T | undefined, other: T | undefined): boolean =>
  one === undefined || other === undefined || one === other
