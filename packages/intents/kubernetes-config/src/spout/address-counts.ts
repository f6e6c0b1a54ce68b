import { type Address, addressKey } from '@spout/model'
import { Listeners } from '@spout/runtime'
import type { Followed } from './follow.ts'

interface Taken {
  readonly poolId: string
  /** The load balancer that has the address; null for none. */
  readonly ownerId: string | null
  /** When its quarantine ends, in milliseconds since 1970; null while it is in use. */
  readonly restsUntilMs: number | null
}

/** Counts the addresses of each pool that are in use or rest in quarantine. It follows the watch of addresses. */
export class AddressCounts {
  readonly #taken = new Map<string, Taken>()
  readonly #poolsListeners = new Listeners<string>()
  #seen: Set<string> | null = null
  #listed = false

  /** Whether the first list is complete. */
  get listed(): boolean {
    return this.#listed
  }

  onChange(listener: (poolId: string) => void): void {
    this.#poolsListeners.add(listener)
  }

  of(poolId: string, nowMs: number): { readonly used: number; readonly resting: number } {
    let used = 0
    let resting = 0
    for (const taken of this.#taken.values()) {
      if (taken.poolId !== poolId) continue
      if (taken.restsUntilMs === null) used++
      else if (taken.restsUntilMs > nowMs) resting++
    }
    return { used, resting }
  }

  /** The ids of load balancers that have addresses of a pool, at most `most` of them. */
  ownersOf(poolId: string, most: number): readonly string[] {
    const owners = new Set<string>()
    for (const taken of this.#taken.values()) {
      if (taken.poolId === poolId && taken.restsUntilMs === null && taken.ownerId !== null) owners.add(taken.ownerId)
      if (owners.size === most) break
    }
    return [...owners]
  }

  readonly followed: Followed = {
    listing: () => {
      this.#seen = new Set()
    },
    line: ({ type, object }) => {
      // A deleted address comes with its key in the store as its id; any other comes with its fields.
      if (type === 'DELETED') this.#forget(object.id)
      else this.#note(object as unknown as Address)
    },
    listed: () => {
      for (const key of [...this.#taken.keys()]) if (this.#seen?.has(key) === false) this.#forget(key)
      this.#seen = null
      this.#listed = true
    },
  }

  #note({ holderId, address, scope, ownerId, quarantineUntil }: Address): void {
    if (scope !== 'fabric') return
    const key = addressKey(holderId, address)
    this.#seen?.add(key)
    const restsUntilMs = quarantineUntil === null ? null : Date.parse(quarantineUntil)
    const before = this.#taken.get(key)
    this.#taken.set(key, { poolId: holderId, ownerId, restsUntilMs })
    if (before === undefined || before.restsUntilMs !== restsUntilMs) this.#tell(holderId)
  }

  #forget(key: string): void {
    const before = this.#taken.get(key)
    if (before === undefined) return
    this.#taken.delete(key)
    this.#tell(before.poolId)
  }

  #tell(poolId: string): void {
    this.#poolsListeners.tell(poolId)
  }
}
