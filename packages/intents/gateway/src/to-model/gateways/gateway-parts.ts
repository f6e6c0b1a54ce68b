import type { RouteContent } from '@spout/connector'
import { sameJson } from '@spout/model'
import { byAge, type RouteObject } from '../../objects/route.ts'
import type { Backend } from '../backends/backends.ts'
import type { NamedShares } from '../listeners/listener-contents.ts'
import type { JudgedListener } from '../listeners/listeners.ts'
import { type OwnedRoute, withChanged } from '../rules/sorted-routes.ts'
import type { NamesOfRoute } from './dns-names.ts'
import { NamesByAge } from './names-by-age.ts'
import type { PlacedPart, RoutePart } from './route-part.ts'

/**
 * The compiled routes of a Gateway, merged. The part of one route can be replaced without reading those of the others.
 */
export class GatewayParts {
  readonly #ofRoute = new Map<string, RoutePart>()
  readonly #kinds = new Map<string, number>()
  readonly #expressions = new Map<string, number>()
  readonly #attached = new Map<JudgedListener, number>()
  readonly #sorted = new Map<JudgedListener, readonly OwnedRoute[]>()
  /** The routes that want a whole listener, the oldest first. Only the first is served. */
  readonly #alone = new Map<JudgedListener, readonly AloneRoute[]>()
  readonly #backends = new Map<string, Backend>()
  /** How many placed parts send to a pool, by its name. */
  readonly #uses = new Map<string, number>()
  /** DNS names of routes that request any. */
  readonly #names = new NamesByAge()
  /** Cache of `poolNames`; null after a change. */
  #poolNames: readonly string[] | null = null

  /** @param owner `kind/namespace/name` */
  get(owner: string): RoutePart | undefined {
    return this.#ofRoute.get(owner)
  }

  hasKind(kind: string): boolean {
    return (this.#kinds.get(kind) ?? 0) > 0
  }

  /**
   * An upper bound on the number of different expressions while these parts are added and before others are removed.
   */
  expressionsWith(come: readonly Pick<RoutePart, 'expressions'>[]): number {
    const fresh = new Set(come.flatMap(({ expressions }) => [...expressions]))
    return this.#expressions.size + fresh.values().reduce((sum, one) => sum + (this.#expressions.has(one) ? 0 : 1), 0)
  }

  /** Removes parts, then adds others. @param gone ids of routes; a changed route is in both */
  exchange(gone: ReadonlySet<string>, come: readonly RoutePart[]): void {
    const others = new Set<JudgedListener>()
    const left = new Set<string>()
    for (const id of gone) {
      const part = this.#ofRoute.get(id)
      if (part === undefined) continue
      left.add(id)
      this.#ofRoute.delete(id)
      this.#names.remove(part.names)
      this.#count(part, -1)
      for (const { listener, shares } of part.placed) {
        others.add(listener)
        if (shares !== null) this.#leave(listener, part.route)
      }
    }
    const routes = new Map<JudgedListener, OwnedRoute[]>()
    for (const part of come) {
      this.#ofRoute.set(part.id, part)
      this.#names.add(part.names)
      this.#count(part, 1)
      for (const placed of part.placed) {
        others.add(placed.listener)
        this.#place(placed, part.route)
        const own = routes.get(placed.listener) ?? []
        for (const one of placed.routes) own.push({ ...one, owner: part.id })
        routes.set(placed.listener, own)
      }
    }
    for (const one of others)
      this.#sorted.set(one, withChanged(this.#sorted.get(one) ?? [], left, routes.get(one) ?? []))
  }

  /** The routes in the cluster, in no particular order. */
  *objects(): Generator<RouteObject> {
    for (const { route } of this.#ofRoute.values()) yield route
  }

  attachedAt(listener: JudgedListener): number {
    return this.#attached.get(listener) ?? 0
  }

  routesOf(listener: JudgedListener): readonly RouteContent[] {
    return (this.#sorted.get(listener) ?? []).map(({ content }) => content)
  }

  sharesOf(listener: JudgedListener): NamedShares | undefined {
    return this.#alone.get(listener)?.[0]?.shares
  }

  allShares(): Iterable<NamedShares> {
    return this.#alone.values().flatMap(([first]) => (first === undefined ? [] : [first.shares]))
  }

  /** Sorted names of the pools that routes send to. */
  get poolNames(): readonly string[] {
    this.#poolNames ??= [...this.#uses.keys()].sort()
    return this.#poolNames
  }

  backend(pool: string): Backend | undefined {
    return this.#backends.get(pool)
  }

  /** The oldest first. */
  names(): readonly NamesOfRoute[] {
    return this.#names.all
  }

  #place({ listener, shares, backends, pools }: PlacedPart, route: RouteObject): void {
    if (shares !== null) {
      const others = this.#alone.get(listener) ?? []
      this.#alone.set(
        listener,
        [...others, { route, shares }].sort((a, b) => byAge(a.route, b.route)),
      )
    }
    for (const pool of pools) {
      const backend = backends.get(pool)
      // An equal backend stays the same object, so that its pool stays the same, too.
      if (backend !== undefined && !sameJson(this.#backends.get(pool), backend)) this.#backends.set(pool, backend)
    }
  }

  #leave(listener: JudgedListener, gone: RouteObject): void {
    const left = (this.#alone.get(listener) ?? []).filter(({ route }) => route !== gone)
    if (left.length > 0) this.#alone.set(listener, left)
    else this.#alone.delete(listener)
  }

  #count({ kind, expressions, attached, placed }: RoutePart, by: 1 | -1): void {
    add(this.#kinds, kind, by)
    for (const one of expressions) add(this.#expressions, one, by)
    for (const listener of attached) add(this.#attached, listener, by)
    for (const { pools } of placed)
      for (const pool of pools) {
        const isKnown = this.#uses.has(pool)
        add(this.#uses, pool, by)
        if (this.#uses.has(pool) === isKnown) continue
        this.#poolNames = null
        this.#backends.delete(pool)
      }
  }
}

interface AloneRoute {
  readonly route: RouteObject
  readonly shares: NamedShares
}

/** Counts up or down; a count of 0 is removed. */
function add<K>(counts: Map<K, number>, key: K, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
