import { hasManyPools } from '@spout/model/node-state'
import type { WantedEntry } from '../../../contracts/driver.ts'
import { KnownRoutes } from '../routes/known-routes.ts'
import { proxyNameOf } from './dedicated-seats.ts'
import { KnownBackends } from './known-backends.ts'
import { type RenderedEntry, renderEntry } from './render.ts'
import { renderBackend } from './render-backend.ts'

/** The entries that proxies carry, and by which proxy each entry and each listener is carried. */
export class CarriedEntries {
  readonly #routes = new KnownRoutes()
  readonly #backends = new KnownBackends()
  readonly #entries = new Map<string, RenderedEntry>()
  /** By listener id. */
  readonly #proxies = new Map<string, string>()

  /**
   * Renders routes as far as they differ from the last ones of their listener, and of an entry with many pools those that
   * differ. @throws RangeError
   */
  render(wanted: WantedEntry): RenderedEntry {
    return renderEntry(
      wanted,
      (...routes) => this.#routes.render(...routes),
      hasManyPools(wanted.entry) ? (...pool) => this.#backends.render(...pool) : renderBackend,
    )
  }

  /** Name of the proxy that has the entry now. */
  proxyOfEntry(key: string): string | undefined {
    const entry = this.#entries.get(key)
    return entry && proxyNameOf(entry)
  }

  /** Name of the proxy that has the listener now. */
  proxyOfListener(id: string): string | undefined {
    return this.#proxies.get(id)
  }

  set(entry: RenderedEntry): void {
    this.delete(entry.key, entry)
    this.#entries.set(entry.key, entry)
    for (const { service } of entry.frontends) this.#proxies.set(service, proxyNameOf(entry))
  }

  /** @param next its next version, whose routes are rendered from the last ones */
  delete(key: string, next?: RenderedEntry): void {
    const kept = new Set(next?.frontends.map(({ service }) => service))
    for (const { service } of this.#entries.get(key)?.frontends ?? []) {
      this.#proxies.delete(service)
      if (!kept.has(service)) this.#routes.forget(service)
    }
    this.#entries.delete(key)
  }
}
