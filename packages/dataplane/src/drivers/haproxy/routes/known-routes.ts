import type { NodeRoute } from '@spout/model'
import { poolsOfNodeRoutes } from '@spout/model/route-keys'
import { type RenderedRoutes, renderRoutes } from './route-rows.ts'

interface Known {
  readonly rendered: RenderedRoutes
  /** The backends that it was rendered with, by pool number. */
  readonly owners: ReadonlyMap<number, string | null>
  /** Whether rows name their routes, as in `renderRoutes`. */
  readonly named: boolean
}

/**
 * Renders the routes of listeners, and keeps the result. It renders only what differs from the last time: an entry is
 * rendered anew whenever a member goes down or comes up.
 */
export class KnownRoutes {
  readonly #known = new Map<string, Known>()

  /** @param service the listener's id. @throws RangeError as `renderRoutes` */
  render(
    routes: readonly NodeRoute[],
    backendOf: (pool: number) => string | null,
    service: string,
    named: boolean,
  ): RenderedRoutes {
    const known = this.#known.get(service)
    // Called for every pool in any case, since the call makes the pool's backend part of the entry.
    const owners = ownersOf(routes, backendOf)
    const same = known?.named === named && owners.entries().every(([pool, owner]) => isOwner(known, pool, owner))
    if (same && known.rendered.compiled.routes === routes) return known.rendered
    const ownerOf = (pool: number): string | null => owners.get(pool) ?? null
    const rendered = renderRoutes(routes, ownerOf, same ? known.rendered : null, named)
    this.#known.set(service, { rendered, owners, named })
    return rendered
  }

  /** The listener is gone. */
  forget(service: string): void {
    this.#known.delete(service)
  }
}

/** Also true for a pool that the last routes did not have: no row leads to it. */
const isOwner = ({ owners }: Known, pool: number, owner: string | null): boolean =>
  !owners.has(pool) || owners.get(pool) === owner

function ownersOf(
  routes: readonly NodeRoute[],
  backendOf: (pool: number) => string | null,
): ReadonlyMap<number, string | null> {
  return new Map(poolsOfNodeRoutes(routes).map((pool) => [pool, backendOf(pool)]))
}
