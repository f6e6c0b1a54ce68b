import { SpoutError } from '@spout/model'
import type { Clock } from '@spout/runtime'
import type { Lease, LeaseClaim, Leases } from './leases.ts'

export interface LocalLeasesOptions {
  readonly clock: Clock
  /** The newest sequence of the log. */
  readonly head: () => number
  /** Resolves when every commit that `lossOf` let pass has succeeded or failed. */
  readonly settled: () => Promise<void>
}

interface Held {
  readonly lease: Lease
  /** On the monotonic clock. */
  readonly untilMs: number
}

/** Leases of a store that one process owns. They are in memory: whoever could want one is in this process. */
export class LocalLeases implements Leases {
  readonly #options: LocalLeasesOptions
  readonly #held = new Map<string, Held>()
  #lastToken = 0

  constructor(options: LocalLeasesOptions) {
    this.#options = options
  }

  async claim({ name, holder, ttlMs }: LeaseClaim): Promise<Lease> {
    const nowMs = this.#options.clock.monotonicMs()
    const held = this.#held.get(name)
    const isOwn = held?.lease.holder === holder
    if (held !== undefined && !isOwn && nowMs < held.untilMs) return held.lease
    const lease = isOwn ? held.lease : { name, holder, token: this.#nextToken() }
    this.#held.set(name, { lease, untilMs: nowMs + ttlMs })
    if (!isOwn) await this.#options.settled()
    return lease
  }

  async release({ name, token }: Lease): Promise<void> {
    if (this.#held.get(name)?.lease.token === token) this.#held.delete(name)
  }

  /** Why a commit under the lease is refused; null when it is held, and for a commit under none. */
  lossOf(lease: Lease | undefined): SpoutError | null {
    if (lease === undefined) return null
    const held = this.#held.get(lease.name)?.lease
    if (held?.token === lease.token) return null
    const reason = held === undefined ? 'it was given up' : `${held.holder} has it`
    return new SpoutError('LeaseLost', { lease: lease.name, reason })
  }

  /** Above those of earlier processes, unless they changed hands more often than they wrote. */
  #nextToken(): number {
    this.#lastToken = Math.max(this.#options.head(), this.#lastToken + 1)
    return this.#lastToken
  }
}
