import type { Clock } from '@spout/runtime'
import { type AddressedObject, shownAddresses, uidOf } from '../objects.ts'

/** How long to wait for pools: somebody must configure the new control plane first. */
const AWAITED_MS = 120_000

/**
 * Keeps the addresses of objects while a control plane that lost its state is configured again. The state counts as
 * lost when the control plane lists no load balancers although objects that we claimed show addresses. For a limited
 * time, such an object keeps the address that it shows and gets no other, because the pool of that address may come
 * back.
 *
 * Users can write claims and addresses on their own objects. Therefore only addresses that were shown when the empty
 * list was read count.
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
   * Call it once the cluster has been read, before anything is decided by an empty list.
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

  /** Whether the object keeps the address that it shows although the control plane does not know it. */
  awaits(object: AddressedObject): boolean {
    if (this.#uids.size === 0) return false
    if (this.#clock.monotonicMs() >= this.#untilMs) this.#uids = new Set()
    return this.#uids.has(uidOf(object))
  }
}
