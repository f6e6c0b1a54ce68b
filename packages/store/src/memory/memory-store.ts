import { randomBytes } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { type Clock, systemClock } from '@spout/runtime'
import { ChangeLog, type LoggedWrite, type Retention } from '../change-log.ts'
import type { Lease } from '../leases/leases.ts'
import { LocalLeases } from '../leases/local-leases.ts'
import { type ObjectRow, ObjectRows } from '../object-rows.ts'
import { checkCondition, type PlannedWrite, planWrite, planWrites } from '../planned-write.ts'
import { formatRevision, parseRevision } from '../revision.ts'
import type {
  Change,
  CommitOptions,
  ListResult,
  Ref,
  Revision,
  Store,
  Stored,
  StoreFormat,
  StoreHealth,
  WatchOptions,
  Write,
} from '../store.ts'
import { KnownValues } from '../values/known-values.ts'
import { Watches } from '../watches.ts'

export interface MemoryStoreOptions {
  /** How much log is kept for watches. Default: 50,000 changes and 64 MiB. */
  readonly retention?: Retention
  /** How often a quiet watch gets a bookmark. Default: 10 s. */
  readonly bookmarkIntervalMs?: number
  /** For the time of leases. */
  readonly clock?: Clock
}

const keyOf = ({ kind, id }: Ref): string => `${kind} ${id}`

/** A store in memory, for tests and tools. It behaves like the durable ones, but nothing outlives it. */
export class MemoryStore implements Store {
  readonly leases: LocalLeases
  readonly #storeId = randomBytes(4).toString('hex')
  readonly #log: ChangeLog
  readonly #watches: Watches
  readonly #known = new KnownValues()
  readonly #rows = new ObjectRows()
  #closed = false

  constructor({ retention, bookmarkIntervalMs, clock = systemClock }: MemoryStoreOptions = {}) {
    this.#log = new ChangeLog(retention ?? { changes: 50_000, bytes: 64 * 1024 * 1024 }, 0)
    this.#watches = new Watches(this.#storeId, this.#log, bookmarkIntervalMs ?? 10_000, this.#known)
    this.leases = new LocalLeases({ clock, head: () => this.#log.head, settled: async () => this.#assertOpen() })
  }

  async get(kind: string, id: string): Promise<Stored | null> {
    this.#assertOpen()
    const row = this.#rows.find({ kind, id })
    return row === null ? null : this.#stored(row)
  }

  async list(kind: string, { scope }: { readonly scope?: string | null } = {}): Promise<ListResult> {
    this.#assertOpen()
    const rows = this.#rows.of(kind, scope)
    return { items: rows.map((row) => this.#stored(row)), revision: this.#revision(this.#log.head) }
  }

  async commit(
    writes: readonly Write[],
    { turn, lease }: CommitOptions = {},
  ): Promise<{ readonly revision: Revision }> {
    this.#assertOpen()
    const encoding = { known: this.#known, isLarge: () => false }
    const planned =
      turn === undefined
        ? writes.map((write) => planWrite(this.#storeId, write, encoding))
        : await planWrites(this.#storeId, writes, encoding, turn)
    if (turn !== undefined) this.#assertOpen()
    if (planned.length > 0) this.#apply(planned, lease)
    return { revision: this.#revision(this.#log.head) }
  }

  watch(options: WatchOptions): AsyncIterable<Change> {
    return this.#watches.watch(options)
  }

  async revision(): Promise<Revision> {
    this.#assertOpen()
    return this.#revision(this.#log.head)
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const sequence = parseRevision(this.#storeId, revision)
    if (sequence === null || sequence > this.#log.head) throw new SpoutError('Gone', { revision })
    this.#log.compact(sequence)
    this.#watches.notify()
  }

  health(): StoreHealth {
    return { writable: !this.#closed, reason: this.#closed ? 'the store is closed' : null }
  }

  async format(): Promise<StoreFormat | null> {
    return null
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#watches.close()
  }

  #apply(writes: readonly PlannedWrite[], lease: Lease | undefined): void {
    const loss = this.leases.lossOf(lease)
    if (loss !== null) throw loss
    const sequence = this.#log.head + 1
    const staged = new Map<string, ObjectRow | null>()
    const logged = writes.map((write): LoggedWrite => {
      const key = keyOf(write)
      const change = staged.get(key)
      const present = change === undefined ? this.#rows.find(write) : change
      checkCondition(write, present?.sequence ?? null)
      const { kind, id, text } = write
      if (text === null) {
        staged.set(key, null)
        return { kind, id, scope: present?.scope ?? null, text }
      }
      const row = { kind, id, scope: write.scope, text, sequence }
      staged.set(key, row)
      return write.value === undefined ? row : { ...row, value: write.value }
    })
    const commit = { sequence, writes: logged }
    this.#rows.apply(commit)
    this.#log.append(commit)
    this.#watches.notify()
  }

  #stored({ kind, id, scope, sequence, text }: ObjectRow): Stored {
    return { kind, id, revision: this.#revision(sequence), scope, value: JSON.parse(text) }
  }

  #revision(sequence: number): Revision {
    return formatRevision(this.#storeId, sequence)
  }

  #assertOpen(): void {
    if (this.#closed) throw new SpoutError('Unavailable', { what: 'the store', reason: 'it is closed' })
  }
}
