/**
 * Tracks load balancers that the data plane lost and that are not repaired yet. If all load balancers are lost, the
 * node carries no traffic, and another node should announce its addresses.
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

  /** The load balancer was repaired, or is no longer wanted. */
  mended(key: string): void {
    this.#broken.delete(key)
  }

  /**
   * Reports whether the node carries traffic. Called after the repair.
   * @param count counts the load balancers that the node should carry; called only while some are broken
   */
  settle(count: () => number): void {
    const held = this.#broken.size === 0 ? 0 : count()
    const healthy = this.#broken.size === 0 || this.#broken.size < held
    if (healthy === this.#healthy) return
    this.#healthy = healthy
    this.#onHealth(healthy, healthy ? '' : `the data plane lost all ${held} load balancers and cannot repair them`)
  }
}
