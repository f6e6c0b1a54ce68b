import type { Clock } from '@spout/runtime'
import { type AddressedObject, shownAddresses, uidOf } from '../objects.ts'

/** A new control plane gets its pools from its configuration a moment after it starts. */
const AWAITED_MS = 120_000

/**
 * Keeps addresses while a control plane that lost its state is configured again. It has lost its state when it lists no
 * load balancer although objects that we claimed show addresses. For a while such an object keeps the address that it
 * shows and gets no other: the pool of that address may be about to come back.
 *
 * Users can write all of this on their own objects. So only addresses that were shown when the empty list was read
 * count, and only for a limited time.
 */
export class Restoration {
  readonly #clock: Clock
  #mayBeLost = false
  #uids: ReadonlySet<string> = new Set()
  #untilMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called when the control plane has listed its load balancers. */
  listed({ size }: { readonly size: number }): void {
    this.#mayBeLost = size === 0
  }

  /**
   * Call it, once the cluster was read, before anything is done on an empty list.
   * @param claimed the objects that we claimed before
   */
  beginIfLost(claimed: () => Iterable<AddressedObject>): void {
    if (!this.#mayBeLost) return
    this.#mayBeLost = false
    this.#begin(claimed())
  }

  #begin(objects: Iterable<AddressedObject>): void {
    const uids: string[] = []
    for (const object of objects) if (shownAddresses(object).length > 0) uids.push(uidOf(object))
    this.#uids = new Set(uids)
    this.#untilMs = this.#clock.monotonicMs() + AWAITED_MS
  }

  /** Whether the object keeps the address that it shows although the control plane does not have it. */
  awaits(object: AddressedObject): boolean {
    if (this.#uids.size === 0) return false
    if (this.#clock.monotonicMs() >= this.#untilMs) this.#uids = new Set()
    return this.#uids.has(uidOf(object))
  }
}
