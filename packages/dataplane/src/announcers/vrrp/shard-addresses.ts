import type { NativeHelper } from '@spout/sys'
import type { Announcement } from '../../announcer.ts'
import type { DomainConfig } from '../../domain/domain-config.ts'
import { type MoverRow, rowKey } from './mover-table.ts'
import { boundRows, marksOf, rowOf } from './places.ts'
import type { StateFeed } from './state-feed.ts'
import type { WantedTable } from './wanted-table.ts'

export interface ShardAddressesOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly table: WantedTable
  readonly feed: StateFeed
  readonly isMaster: (shard: number) => boolean
}

type Outcome = { readonly announcement: Announcement; readonly error: string | null }

const TAKEN_WITHIN_MS = 5_000

/** The announcements as the mover has them: bound where this node is master, ready to be bound elsewhere. */
export class ShardAddresses {
  readonly #given: ShardAddressesOptions
  #accepted: ReadonlyMap<string, Announcement> = new Map()
  /** Rows the mover takes for bound and that are not. */
  #lost: ReadonlySet<string> = new Set()
  /** Rows that were last found to be bound, all of them, when the kernel's marks were these. */
  #whole: { readonly marks: string; readonly rows: readonly MoverRow[] } | null = null
  /** What `observe` answers; null to be gathered anew. */
  #present: readonly Announcement[] | null = null

  constructor(options: ShardAddressesOptions) {
    this.#given = options
  }

  /** Takes those of `previous` for accepted that an earlier agent gave the mover. */
  adopt(previous: readonly Announcement[]): void {
    const given = new Set(this.#given.table.table.rows.map(rowKey))
    const placed = previous.flatMap((announcement) => {
      const row = this.#rowOf(announcement)
      return typeof row === 'string' ? [] : [[rowKey(row), announcement] as const]
    })
    this.#accepted = new Map(placed.filter(([key]) => given.has(key)))
    this.#present = null
  }

  /** Resolves once the mover has the whole set. */
  async apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly Outcome[]> {
    this.#present = null
    const placed = wanted.map((announcement) => ({ announcement, row: this.#rowOf(announcement) }))
    const rows = placed.flatMap(({ row }) => (typeof row === 'string' ? [] : [row]))
    const late = await this.#give(rows, signal)
    const failed = new Map(this.#given.feed.state?.failed.map(({ address, error }) => [address, error]))
    const results = placed.map(({ announcement, row }) => {
      if (typeof row === 'string') return { announcement, key: null, error: row }
      const refused = this.#given.isMaster(row.shard) ? failed.get(row.address) : undefined
      return { announcement, key: rowKey(row), error: late ?? refused ?? null }
    })
    this.#accepted = new Map(
      results.flatMap(({ announcement, key, error }) =>
        key === null || error !== null ? [] : [[key, announcement] as const],
      ),
    )
    return results.map(({ announcement, error }) => ({ announcement, error }))
  }

  /** Those accepted, without the ones that should be bound here and are not; the next `apply` binds them again. */
  async observe(): Promise<readonly Announcement[]> {
    const { config, helper, table, feed, isMaster } = this.#given
    const rows = table.table.rows.filter((row) => this.#accepted.has(rowKey(row)) && isMaster(row.shard))
    const marks = await marksOf(config, helper, rows)
    const isWhole = marks === this.#whole?.marks && sameRows(rows, this.#whole.rows)
    const bound = isWhole ? null : await boundRows(config, helper, rows)
    await feed.read()
    if (bound !== null) {
      this.#whole = bound.size === rows.length ? { marks, rows } : null
      // A shard that moved away meanwhile took its addresses along.
      const lost = rows.filter((row) => !bound.has(row) && isMaster(row.shard)).map(rowKey)
      if (lost.length > 0) this.#present = null
      this.#lost = new Set([...this.#lost, ...lost])
    }
    this.#present ??= [...this.#accepted].flatMap(([key, one]) => (this.#lost.has(key) ? [] : [one]))
    return this.#present
  }

  /** Those this node answers for now. */
  announced(): readonly Announcement[] {
    const { table, isMaster } = this.#given
    return table.table.rows.flatMap((row) => (isMaster(row.shard) ? (this.#accepted.get(rowKey(row)) ?? []) : []))
  }

  #rowOf(announcement: Announcement): MoverRow | string {
    const { config, table } = this.#given
    return rowOf(config, table.table.routers, announcement)
  }

  /** @returns null, or why the mover has not taken the rows */
  async #give(rows: readonly MoverRow[], signal: AbortSignal): Promise<string | null> {
    const { table, feed } = this.#given
    if (table.table.routers.size === 0) return null
    try {
      // Given a table without the lost ones first, the mover forgets them and binds them anew.
      if (this.#lost.size > 0)
        await this.#taken(await table.write({ rows: rows.filter((row) => !this.#lost.has(rowKey(row))) }), signal)
      this.#lost = new Set()
      const addresses = new Set(rows.map(({ address }) => address))
      const again = feed.state?.failed.some(({ address }) => addresses.has(address)) ?? false
      await this.#taken(await table.write({ rows }, again), signal)
      return null
    } catch (error) {
      signal.throwIfAborted()
      return error instanceof Error ? error.message : String(error)
    }
  }

  async #taken(generation: number, signal: AbortSignal): Promise<void> {
    const what = `the address mover did not take table ${generation}`
    await this.#given.feed.until((state) => state.generation >= generation, what, TAKEN_WITHIN_MS, signal)
  }
}

const sameRows = (one: readonly MoverRow[], other: readonly MoverRow[]): boolean =>
  one.length === other.length && one.every((row, index) => row === other[index])
