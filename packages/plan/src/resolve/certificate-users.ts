import type { LoadBalancer } from '@spout/model'

const NONE: ReadonlySet<string> = new Set()

/** The load balancers that use each certificate, by id. */
export class CertificateUsers {
  readonly #usersOf = new Map<string, Set<string>>()
  readonly #usedBy = new Map<string, ReadonlySet<string>>()

  of(certificateId: string): ReadonlySet<string> {
    return this.#usersOf.get(certificateId) ?? NONE
  }

  /** @param next null when it is gone */
  replace(loadBalancerId: string, next: Pick<LoadBalancer, 'listeners'> | null): void {
    const before = this.#usedBy.get(loadBalancerId) ?? NONE
    const after = new Set(next?.listeners.flatMap(({ tls }) => tls?.certificateIds ?? []))
    for (const id of before.difference(after)) this.#remove(id, loadBalancerId)
    for (const id of after.difference(before)) {
      const users = this.#usersOf.get(id) ?? new Set()
      this.#usersOf.set(id, users.add(loadBalancerId))
    }
    if (after.size > 0) this.#usedBy.set(loadBalancerId, after)
    else this.#usedBy.delete(loadBalancerId)
  }

  #remove(certificateId: string, loadBalancerId: string): void {
    const users = this.#usersOf.get(certificateId)
    users?.delete(loadBalancerId)
    if (users?.size === 0) this.#usersOf.delete(certificateId)
  }
}
