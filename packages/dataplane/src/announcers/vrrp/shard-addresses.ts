import type { NativeHelper } from '@spout/sys'
import type { Announcement, AnnouncementDifference, AnnouncementOutcome } from '../../contracts/announcer.ts'
import type { DomainConfig } from '../../domain/domain-config.ts'
import { type MoverRow, type MoverRows, rowKey } from './mover-table.ts'
import { boundRows, marksOf, placeOf, rowOf } from './places.ts'
import type { StateFeed } from './state-feed.ts'
import type { WantedTable } from './wanted-table.ts'

export interface ShardAddressesOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly table: WantedTable
  readonly feed: StateFeed
  readonly isMaster: (shard: number) => boolean
}

interface Placed {
  readonly announcement: Announcement
  /** The row with its key; null if the address cannot be bound. */
  readonly row: readonly [string, MoverRow] | null
  readonly error: string | null
}

/** The accepted rows of the shards that this node masters. */
interface MasteredRows {
  /** The table that they are of. */
  readonly table: MoverRows
  readonly shards: string
  readonly rows: readonly MoverRow[]
  readonly netnses: ReadonlySet<MoverRow['netns']>
}

const TAKEN_WITHIN_MS = 5_000

/** The announcements that the mover has: bound where this node is master, and otherwise ready to be bound. */
export class ShardAddresses {
  readonly #given: ShardAddressesOptions
  /** By the key of their rows. */
  #accepted = new Map<string, Announcement>()
  /** Rows of an earlier agent that no announcement wants. The next change removes them. */
  #strange: ReadonlySet<string> = new Set()
  /** Rows that are bound by the mover's state but not in the kernel. */
  #lost: ReadonlySet<string> = new Set()
  /** Rows that were all bound when the kernel had these marks. */
  #whole: { readonly marks: string; readonly rows: readonly MoverRow[] } | null = null
  /** The result of `observe`; null if it must be computed again. */
  #present: readonly Announcement[] | null = null
  /** Null if `#accepted` has changed since. */
  #mastered: MasteredRows | null = null

  constructor(options: ShardAddressesOptions) {
    this.#given = options
  }

  /** Records as accepted the announcements of `previous` that are in the mover's table. */
  adopt(previous: readonly Announcement[]): void {
    const given = this.#given.table.table.rows
    const placed = previous.flatMap((announcement) => {
      const row = this.#rowOf(announcement)
      return typeof row === 'string' ? [] : [[rowKey(row), announcement] as const]
    })
    this.#accepted = new Map(placed.filter(([key]) => given.has(key)))
    this.#strange = new Set(given.keys().filter((key) => !this.#accepted.has(key)))
    this.#forget()
  }

  /** Forgets announcements whose rows are gone with their shards; they must be requested again. */
  forgetRowless(): void {
    const { rows } = this.#given.table.table
    for (const key of this.#accepted.keys()) if (!rows.has(key)) this.#accepted.delete(key)
    this.#forget()
  }

  /** Resolves when the mover has the whole set. */
  async apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    const placed = this.#place(wanted)
    const outcomes = await this.#give(placed, new Map(rowsOf(placed)), signal)
    this.#accepted = new Map()
    return this.#accept(outcomes)
  }

  /**
   * Resolves with the outcomes of `come` when the mover has the difference. Unchanged announcements are not checked.
   */
  async change({ come, go }: AnnouncementDifference, signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    const { config, table } = this.#given
    const rows = new Map(table.table.rows)
    for (const key of this.#strange) rows.delete(key)
    const left: string[] = []
    for (const announcement of go) {
      const row = placeOf(config, announcement)
      if (row === null) continue
      const key = rowKey(row)
      // The address belongs to another load balancer by now, since it may move between two.
      if ((this.#accepted.get(key)?.domain ?? announcement.domain) !== announcement.domain) continue
      rows.delete(key)
      left.push(key)
    }
    const placed = this.#place(come)
    for (const [key, row] of rowsOf(placed)) rows.set(key, row)
    const outcomes = await this.#give(placed, rows, signal)
    for (const key of left) this.#accepted.delete(key)
    return this.#accept(outcomes)
  }

  /** Accepted announcements, except those that should be bound here and are not. The next change binds them again. */
  async observe(): Promise<readonly Announcement[]> {
    const { config, helper, feed, isMaster } = this.#given
    const { rows, netnses } = this.#masteredRows()
    const marks = await marksOf(config, helper, netnses)
    const isWhole = marks === this.#whole?.marks && sameRows(rows, this.#whole.rows)
    const bound = isWhole ? null : await boundRows(config, helper, rows)
    await feed.read()
    if (bound !== null) {
      this.#whole = bound.size === rows.length ? { marks, rows } : null
      // A shard that moved away meanwhile took its addresses with it.
      const lost = rows.filter((row) => !bound.has(row) && isMaster(row.shard)).map(rowKey)
      if (lost.length > 0) this.#present = null
      this.#lost = new Set([...this.#lost, ...lost])
    }
    this.#present ??= [...this.#accepted].flatMap(([key, one]) => (this.#lost.has(key) ? [] : [one]))
    return this.#present
  }

  /** Announcements of shards that this node masters. */
  announced(): readonly Announcement[] {
    const { table, isMaster } = this.#given
    const { rows } = table.table
    return [...rows].flatMap(([key, row]) => (isMaster(row.shard) ? (this.#accepted.get(key) ?? []) : []))
  }

  /** Computed again only after a change, since observing must cost little where an agent has thousands of rows. */
  #masteredRows(): MasteredRows {
    const { rows: table, routers } = this.#given.table.table
    const masters = new Set(routers.keys().filter(this.#given.isMaster))
    const shards = [...masters].join()
    if (this.#mastered?.table === table && this.#mastered.shards === shards) return this.#mastered
    const rows: MoverRow[] = []
    for (const [key, row] of table) if (this.#accepted.has(key) && masters.has(row.shard)) rows.push(row)
    this.#mastered = { table, shards, rows, netnses: new Set(rows.map(({ netns }) => netns)) }
    return this.#mastered
  }

  /** Call when `#accepted` has changed. */
  #forget(): void {
    this.#present = null
    this.#mastered = null
  }

  #rowOf(announcement: Announcement): MoverRow | string {
    const { config, table } = this.#given
    return rowOf(config, table.table.routers, announcement)
  }

  #place(announcements: readonly Announcement[]): readonly Placed[] {
    return announcements.map((announcement) => {
      const row = this.#rowOf(announcement)
      return typeof row === 'string'
        ? { announcement, row: null, error: row }
        : { announcement, row: [rowKey(row), row] as const, error: null }
    })
  }

  #accept(outcomes: readonly Placed[]): readonly AnnouncementOutcome[] {
    this.#forget()
    for (const { announcement, row, error } of outcomes)
      if (row !== null && error === null) this.#accepted.set(row[0], announcement)
    return outcomes.map(({ announcement, error }) => ({ announcement, error }))
  }

  /**
   * Gives the mover a table of these rows.
   * @param placed whose addresses the mover should retry if they failed
   * @returns them, with the reason if the mover has not accepted them
   */
  async #give(placed: readonly Placed[], rows: MoverRows, signal: AbortSignal): Promise<readonly Placed[]> {
    this.#forget()
    const late = await this.#write(placed, rows, signal)
    const failed = this.#failed()
    return placed.map((one) => {
      if (one.row === null) return one
      const { shard, address } = one.row[1]
      const refused = this.#given.isMaster(shard) ? failed.get(address) : undefined
      return { ...one, error: late ?? refused ?? null }
    })
  }

  /** @returns null, or why the mover has not accepted the rows */
  async #write(placed: readonly Placed[], rows: MoverRows, signal: AbortSignal): Promise<string | null> {
    const { table } = this.#given
    if (table.table.routers.size === 0) return null
    try {
      // A table without the lost rows first: the mover forgets them and binds them again.
      if (this.#lost.size > 0) {
        const held = new Map([...rows].filter(([key]) => !this.#lost.has(key)))
        await this.#taken(await table.write({ rows: held }), signal)
      }
      this.#lost = new Set()
      this.#strange = new Set()
      const failed = this.#failed()
      const again = failed.size > 0 && placed.some(({ row }) => row !== null && failed.has(row[1].address))
      await this.#taken(await table.write({ rows }, again), signal)
      return null
    } catch (error) {
      signal.throwIfAborted()
      return error instanceof Error ? error.message : String(error)
    }
  }

  #failed(): ReadonlyMap<string, string> {
    return new Map(this.#given.feed.state?.failed.map(({ address, error }) => [address, error]))
  }

  async #taken(generation: number, signal: AbortSignal): Promise<void> {
    const what = `the address mover did not take table ${generation}`
    await this.#given.feed.until((state) => state.generation >= generation, what, TAKEN_WITHIN_MS, signal)
  }
}

const rowsOf = (placed: readonly Placed[]): readonly (readonly [string, MoverRow])[] =>
  placed.flatMap(({ row }) => (row === null ? [] : [row]))

const sameRows = (one: readonly MoverRow[], other: readonly MoverRow[]): boolean =>
  one === other || (one.length === other.length && one.every((row, index) => row === other[index]))
