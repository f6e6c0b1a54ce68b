const NONE: ReadonlySet<string> = new Set()

/** An index of which load balancers name an object, such as a certificate. */
export class ReferenceUsers {
  readonly #usersOf = new Map<string, Set<string>>()
  readonly #usedBy = new Map<string, ReadonlySet<string>>()

  of(id: string): ReadonlySet<string> {
    return this.#usersOf.get(id) ?? NONE
  }

  /** @param named ids that the load balancer names now; empty if it was deleted */
  replace(loadBalancerId: string, named: Iterable<string>): void {
    const before = this.#usedBy.get(loadBalancerId) ?? NONE
    const after = new Set(named)
    // Most name nothing.
    if (before.size === 0 && after.size === 0) return
    for (const id of before.difference(after)) this.#remove(id, loadBalancerId)
    for (const id of after.difference(before)) {
      const users = this.#usersOf.get(id) ?? new Set()
      this.#usersOf.set(id, users.add(loadBalancerId))
    }
    if (after.size > 0) this.#usedBy.set(loadBalancerId, after)
    else this.#usedBy.delete(loadBalancerId)
  }

  #remove(id: string, loadBalancerId: string): void {
    const users = this.#usersOf.get(id)
    users?.delete(loadBalancerId)
    if (users?.size === 0) this.#usersOf.delete(id)
  }
}
