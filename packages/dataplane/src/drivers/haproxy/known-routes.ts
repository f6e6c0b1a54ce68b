import type { NodeRoute } from '@spout/model'
import { type RenderedRoutes, renderRoutes } from './route-rows.ts'

interface Known {
  readonly rendered: RenderedRoutes
  /** The backends that it was rendered with, by pool number. */
  readonly owners: ReadonlyMap<number, string | null>
}

/**
 * Renders routes once. An entry is rendered anew whenever a member goes down or comes up, and thousands of routes take a
 * tenth of a second.
 */
export class KnownRoutes {
  readonly #known = new WeakMap<readonly NodeRoute[], Known>()

  /** @throws RangeError as `renderRoutes` */
  render(routes: readonly NodeRoute[], backendOf: (pool: number) => string | null): RenderedRoutes {
    const known = this.#known.get(routes)
    // Every pool is asked for in any case, since asking makes its backend part of the entry.
    const owners = new Map(poolsOf(routes).map((pool) => [pool, backendOf(pool)]))
    if (known !== undefined && [...owners].every(([pool, owner]) => known.owners.get(pool) === owner))
      return known.rendered
    const rendered = renderRoutes(routes, (pool) => owners.get(pool) ?? null)
    this.#known.set(routes, { rendered, owners })
    return rendered
  }
}

const poolsOf = (routes: readonly NodeRoute[]): readonly number[] => [
  ...new Set(
    routes.flatMap(({ action }) =>
      action.type === 'forward' ? action.pools.flatMap(({ pool }) => (pool === null ? [] : [pool])) : [],
    ),
  ),
]
