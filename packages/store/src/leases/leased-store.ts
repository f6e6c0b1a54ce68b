import { SpoutError } from '@spout/model'
import type {
  Change,
  CommitOptions,
  ListResult,
  Revision,
  Store,
  Stored,
  StoreFormat,
  StoreHealth,
  WatchOptions,
  Write,
} from '../store.ts'
import type { Lease, Leases } from './leases.ts'

interface Fence {
  readonly lease: Lease
  readonly onLost: () => void
}

/**
 * A store as one process uses it: while the process has a lease, all its commits are made under it. So nothing that it
 * writes by mistake, after another process took over, is stored.
 */
export class LeasedStore implements Store {
  readonly #store: Store
  #fence: Fence | null = null

  constructor(store: Store) {
    this.#store = store
  }

  get leases(): Leases {
    return this.#store.leases
  }

  /** From now on commits are made under the lease. @param onLost called when one is refused for it */
  fence(lease: Lease, onLost: () => void): void {
    this.#fence = { lease, onLost }
  }

  /** From now on commits are made under no lease. */
  unfence(): void {
    this.#fence = null
  }

  async commit(writes: readonly Write[], options: CommitOptions = {}): Promise<{ readonly revision: Revision }> {
    const fence = this.#fence
    if (fence === null) return this.#store.commit(writes, options)
    try {
      return await this.#store.commit(writes, { ...options, lease: fence.lease })
    } catch (error) {
      if (error instanceof SpoutError && error.code === 'LeaseLost') fence.onLost()
      throw error
    }
  }

  get(kind: string, id: string): Promise<Stored | null> {
    return this.#store.get(kind, id)
  }

  list(kind: string, options?: { readonly scope?: string | null }): Promise<ListResult> {
    return this.#store.list(kind, options)
  }

  watch(options: WatchOptions): AsyncIterable<Change> {
    return this.#store.watch(options)
  }

  revision(atLeast?: Revision): Promise<Revision> {
    return this.#store.revision(atLeast)
  }

  compact(revision: Revision): Promise<void> {
    return this.#store.compact(revision)
  }

  health(): StoreHealth {
    return this.#store.health()
  }

  format(): Promise<StoreFormat | null> {
    return this.#store.format()
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}
