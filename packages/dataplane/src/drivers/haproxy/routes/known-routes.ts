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
 * Renders the routes of a listener as far as they differ from its last ones. An entry is rendered anew whenever a member
 * goes down or comes up, too.
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
    // Every pool is asked for in any case, since asking makes its backend part of the entry.
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

/** A pool that was not there before leads to nothing that could be outdated. */
const isOwner = ({ owners }: Known, pool: number, owner: string | null): boolean =>
  !owners.has(pool) || owners.get(pool) === owner

function ownersOf(
  routes: readonly NodeRoute[],
  backendOf: (pool: number) => string | null,
): ReadonlyMap<number, string | null> {
  return new Map(poolsOfNodeRoutes(routes).map((pool) => [pool, backendOf(pool)]))
}
