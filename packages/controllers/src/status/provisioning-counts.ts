import type { ProvisioningStatus } from './provisioning-status.ts'

type Provisioning = ProvisioningStatus['provisioning']

/** How many of the reviewed load balancers have each provisioning. */
export class ProvisioningCounts {
  readonly #of = new Map<string, Provisioning>()
  readonly #counts = { pending: 0, active: 0, error: 0 }

  /** Those that were not reviewed yet are in none of them. */
  get counts(): Readonly<Record<Provisioning, number>> {
    return this.#counts
  }

  /** @param now null: it is gone */
  set(id: string, now: Provisioning | null): void {
    const before = this.#of.get(id)
    if (before === now) return
    if (before !== undefined) this.#counts[before]--
    if (now === null) {
      this.#of.delete(id)
      return
    }
    this.#counts[now]++
    this.#of.set(id, now)
  }
}
