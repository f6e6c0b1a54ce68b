import type { Held } from './wanted-state.ts'

/** The entries that the data plane of this node has confirmed. */
export class AppliedState {
  readonly #entries = new Map<string, Held>()
  /** domain number -> keys of the load balancers in it */
  readonly #inDomain = new Map<number, Set<string>>()

  get(key: string): Held | undefined {
    return this.#entries.get(key)
  }

  put(key: string, held: Held): void {
    this.#leaveDomain(key)
    this.#entries.set(key, held)
    if (held.entry.kind !== 'load-balancer') return
    const keys = this.#inDomain.get(held.entry.domain)
    if (keys === undefined) this.#inDomain.set(held.entry.domain, new Set([key]))
    else keys.add(key)
  }

  delete(key: string): void {
    this.#leaveDomain(key)
    this.#entries.delete(key)
  }

  /** Counts the load balancers in a domain. */
  countIn(domain: number): number {
    return this.#inDomain.get(domain)?.size ?? 0
  }

  #leaveDomain(key: string): void {
    const before = this.#entries.get(key)?.entry
    if (before?.kind !== 'load-balancer') return
    const keys = this.#inDomain.get(before.domain)
    keys?.delete(key)
    if (keys?.size === 0) this.#inDomain.delete(before.domain)
  }
}
