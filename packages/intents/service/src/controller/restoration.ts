import type { Service } from '@spout/kube'
import type { Clock } from '@spout/runtime'
import { shownAddresses, uidOf } from '../names.ts'

/** A control plane that begins anew gets its pools from whoever configures it, a moment later. */
const AWAITED_MS = 120_000

/**
 * Services that have an address which the control plane knows nothing of: it lists no load balancer at all, while Services
 * that we claimed show addresses. It has lost its state. For a while such a Service keeps what it shows, and gets no other
 * address in its place: the pool that the address is from may be about to come back.
 *
 * Users can write all of that on their own Services. So only what stood there when the empty list was read counts, and not
 * for long.
 */
export class Restoration {
  readonly #clock: Clock
  #uids: ReadonlySet<string> = new Set()
  #untilMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The control plane listed nothing. @param services those that we claimed before */
  begin(services: Iterable<Service>): void {
    const uids: string[] = []
    for (const service of services) if (shownAddresses(service).length > 0) uids.push(uidOf(service))
    this.#uids = new Set(uids)
    this.#untilMs = this.#clock.monotonicMs() + AWAITED_MS
  }

  /** Whether what the Service shows is to stay although the control plane does not have it. */
  awaits(service: Service): boolean {
    if (this.#uids.size === 0) return false
    if (this.#clock.monotonicMs() >= this.#untilMs) this.#uids = new Set()
    return this.#uids.has(uidOf(service))
  }
}
