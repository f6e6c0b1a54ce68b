import type { Clock } from '@spout/runtime'
import { type AddressedObject, shownAddresses, uidOf } from '../objects.ts'

/** A control plane that begins anew gets its pools from whoever configures it, a moment later. */
const AWAITED_MS = 120_000

/**
 * Objects that have an address which the control plane knows nothing of: it lists no load balancer at all, while objects
 * that we claimed show addresses. It has lost its state. For a while such an object keeps what it shows, and gets no other
 * address in its place: the pool that the address is from may be about to come back.
 *
 * Users can write all of that on their own objects. So only what stood there when the empty list was read counts, and not
 * for long.
 */
export class Restoration {
  readonly #clock: Clock
  #uids: ReadonlySet<string> = new Set()
  #untilMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The control plane listed nothing. @param objects those that we claimed before */
  begin(objects: Iterable<AddressedObject>): void {
    const uids: string[] = []
    for (const object of objects) if (shownAddresses(object).length > 0) uids.push(uidOf(object))
    this.#uids = new Set(uids)
    this.#untilMs = this.#clock.monotonicMs() + AWAITED_MS
  }

  /** Whether what the object shows is to stay although the control plane does not have it. */
  awaits(object: AddressedObject): boolean {
    if (this.#uids.size === 0) return false
    if (this.#clock.monotonicMs() >= this.#untilMs) this.#uids = new Set()
    return this.#uids.has(uidOf(object))
  }
}
