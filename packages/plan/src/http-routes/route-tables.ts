import type { HttpRoute, Listener } from '@spout/model'
import { type CompiledRoutes, compileRoutes } from './compile-routes.ts'

/** Tables of up to this many routes are not kept: compiling them anew takes less time. */
const FEW = 64
/** How many tables are kept: those of the listeners that were compiled last. */
const MOST_KEPT = 50

/** A cache of the compiled routes of listeners, so that a changed route costs only its own part of the table. */
export class RouteTables {
  readonly #known = new Map<string, CompiledRoutes<HttpRoute>>()

  /** Like `compileRoutes`. */
  of({ id, routes }: Pick<Listener, 'id' | 'routes'>): CompiledRoutes<HttpRoute> | null {
    const known = this.#known.get(id) ?? null
    const compiled = compileRoutes(routes, known)
    this.#known.delete(id)
    const kept = compiled ?? known
    if (kept !== null && kept.routes.length > FEW) this.#known.set(id, kept)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KEPT && oldest !== undefined) this.#known.delete(oldest)
    return compiled
  }
}
