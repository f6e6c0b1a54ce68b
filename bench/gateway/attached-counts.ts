import type { KubernetesApi } from '@spout/testkit'
import { GATEWAYS, type ShownGateway } from './objects.ts'

const LONGEST_MS = 300_000

/** What the first listener of a Gateway says in `attachedRoutes`, as an ordinary watch sees it. */
export class AttachedCounts implements Disposable {
  readonly #stop = new AbortController()
  readonly #waiting = new Map<number, (atMs: number) => void>()
  #last: { readonly routes: number; readonly atMs: number } | null = null
  #seen = 0

  static async watch(api: KubernetesApi, gateway: string): Promise<AttachedCounts> {
    const counts = new AttachedCounts()
    const { metadata } = await api.list<ShownGateway>(GATEWAYS())
    void counts.#follow(api, gateway, metadata.resourceVersion)
    return counts
  }

  /** Versions of the Gateway that were seen. */
  get seen(): number {
    return this.#seen
  }

  /** When it said this number, by `performance.now()`. @throws Error after five minutes */
  reached(routes: number): Promise<number> {
    if (this.#last?.routes === routes) return Promise.resolve(this.#last.atMs)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#waiting.set(routes, resolve)
    AbortSignal.timeout(LONGEST_MS).addEventListener('abort', () =>
      reject(new Error(`attachedRoutes was never ${routes}, but ${this.#last?.routes}`)),
    )
    return promise
  }

  async #follow(api: KubernetesApi, gateway: string, from: string): Promise<void> {
    try {
      for await (const { object } of api.watch<ShownGateway>(GATEWAYS(), from, this.#stop.signal)) {
        if (object.metadata.name !== gateway) continue
        const routes = object.status?.listeners?.[0]?.attachedRoutes ?? 0
        this.#seen++
        if (this.#last?.routes === routes) continue
        this.#last = { routes, atMs: performance.now() }
        this.#waiting.get(routes)?.(this.#last.atMs)
      }
    } catch {
      // Ended by us, or broken: waiters are told that it never came.
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }
}
