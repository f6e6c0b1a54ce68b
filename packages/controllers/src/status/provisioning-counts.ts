import type { ProvisioningStatus } from './provisioning-status.ts'

type Provisioning = ProvisioningStatus['provisioning']

/** Counts load balancers by provisioning status. */
export class ProvisioningCounts {
  readonly #of = new Map<string, Provisioning>()
  readonly #counts = { pending: 0, active: 0, error: 0 }

  /** Load balancers that have not been reviewed yet are not counted. */
  get counts(): Readonly<Record<Provisioning, number>> {
    return this.#counts
  }

  /** Sets the status of a load balancer. @param now null: it was deleted */
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
