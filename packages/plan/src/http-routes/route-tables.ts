import type { HttpRoute, Listener } from '@spout/model'
import { type CompiledRoutes, compileRoutes } from './compile-routes.ts'

/** Compiling a table of few routes takes less time than finding the compiled one. */
const FEW = 64
/** Tables kept: of the listeners that changed last. */
const MOST_KEPT = 50

/** The tables of listeners that were checked last, so that a changed route costs its own part of the table. */
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
