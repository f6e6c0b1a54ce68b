/**
 * Load balancers that the data plane lost and that were not mended yet. While that is all of them the node carries
 * nothing: what it announces, another node should.
 */
export class BrokenKeys {
  readonly #broken = new Set<string>()
  readonly #onHealth: (healthy: boolean, reason: string) => void
  #healthy = true

  constructor(onHealth: (healthy: boolean, reason: string) => void) {
    this.#onHealth = onHealth
  }

  lost(keys: Iterable<string>): void {
    for (const key of keys) this.#broken.add(key)
  }

  /** Mended, or no longer wanted. */
  mended(key: string): void {
    this.#broken.delete(key)
  }

  /**
   * Draws the conclusion, once what could be mended was.
   * @param count how many load balancers the node shall carry; asked only while some are broken
   */
  settle(count: () => number): void {
    const held = this.#broken.size === 0 ? 0 : count()
    const healthy = this.#broken.size === 0 || this.#broken.size < held
    if (healthy === this.#healthy) return
    this.#healthy = healthy
    this.#onHealth(healthy, healthy ? '' : `the data plane lost all ${held} load balancers and cannot be mended`)
  }
}
