import type { Log, NativeHelper } from '@spout/sys'
import { DomainTable, type Wanted } from './domain-table.ts'
import type { Rendered, TableKind } from './rendered.ts'
import { SpreadTable } from './spread-table.ts'
import { EndsOfTunnels, TunnelNeighbours } from './tunnel-neighbours.ts'

/**
 * The tables of one domain. The network's return path, and whether anything in it is tracked, decide which table its
 * entries are in. Other tables do not exist, since every packet would pass them.
 */
export class DomainTables {
  readonly #tables: Readonly<Record<Exclude<TableKind, 'spreading'>, DomainTable>>
  readonly #neighbours: TunnelNeighbours
  /** Beside the table that an entry is in. */
  readonly #spread: SpreadTable

  constructor(options: { readonly helper: NativeHelper; readonly log: Log; readonly netns: string }) {
    this.#tables = {
      translating: new DomainTable({ ...options, kind: 'translating' }),
      proxying: new DomainTable({ ...options, kind: 'proxying' }),
      forwarding: new DomainTable({ ...options, kind: 'forwarding' }),
      tunnelling: new DomainTable({ ...options, kind: 'tunnelling' }),
    }
    this.#neighbours = new TunnelNeighbours(options)
    this.#spread = new SpreadTable(options)
  }

  get size(): number {
    return this.#all.reduce((sum, { entries }) => sum + entries.size, 0)
  }

  /** Whether a table must be loaded although no entry changed. */
  get needsLoad(): boolean {
    return this.#spread.needsLoad || this.#all.some(({ needsLoad }) => needsLoad)
  }

  get transactions(): number {
    return this.#all.reduce((sum, { transactions }) => sum + transactions, this.#spread.transactions)
  }

  get(key: string): Rendered | undefined {
    for (const { entries } of this.#all) if (entries.has(key)) return entries.get(key)
    return undefined
  }

  entries(): readonly Rendered[] {
    return this.#all.flatMap(({ entries }) => [...entries.values()])
  }

  /**
   * Assumes that the kernel holds the entries where its generation matches; otherwise the next `apply` loads the table.
   */
  async adopt(entries: ReadonlyMap<string, Rendered>): Promise<void> {
    for (const [kind, table] of Object.entries(this.#tables))
      await table.adopt(new Map([...entries].filter(([, { table: own }]) => own === kind)))
    if (this.#tables.tunnelling.isInUse) await this.#neighbours.adopt()
    await this.#spread.adopt(entries)
  }

  /** Keys of entries that the kernel no longer holds as they were applied. */
  async lost(): Promise<readonly string[]> {
    const lost: string[] = []
    for (const table of this.#all) if (table.isInUse && !(await table.observe())) lost.push(...table.entries.keys())
    if (!(await this.#neighbours.observe())) lost.push(...this.#tables.tunnelling.entries.keys())
    lost.push(...(await this.#spread.lost()))
    return [...new Set(lost)]
  }

  /**
   * Resolves with refused entries and the kernel's errors. All others are in force; a refused entry keeps its previous
   * state.
   */
  async apply(all: Wanted, signal: AbortSignal): Promise<ReadonlyMap<string, Error>> {
    const failures = new Map<string, Error>()
    const apply = async (table: DomainTable, some: Wanted): Promise<void> => {
      if (some.size === 0 && !table.needsLoad) return
      for (const [key, error] of await table.apply(some, signal)) failures.set(key, error)
    }
    const deserted = this.#spread.deserted(all)
    if (deserted.size > 0)
      for (const [key, error] of await this.#spread.apply(deserted, signal)) failures.set(key, error)
    // Tunnel neighbours are added before the elements that use them and removed after them, so that no packet is
    // forwarded to a missing one.
    const { tunnelling } = this.#tables
    const stay = [...tunnelling.entries.values()].filter(({ key }) => !all.has(key))
    const wanted = this.#distinct(all, stay, failures)
    await this.#neighbours.add([...stay, ...wanted.values()].flatMap((rendered) => rendered?.remotes ?? []))
    const left: [DomainTable, Map<string, null>][] = []
    for (const [kind, table] of Object.entries(this.#tables)) {
      const own = new Map<string, Rendered | null>()
      const leaving = new Map<string, null>()
      let comes = false
      for (const [key, rendered] of wanted) {
        if (rendered?.table !== kind && !table.entries.has(key)) continue
        if (rendered !== null && rendered.table !== kind) leaving.set(key, null)
        else own.set(key, rendered)
        comes ||= rendered?.table === kind
      }
      // One transaction, so that an address may move between entries.
      if (comes) await apply(table, own)
      else for (const key of own.keys()) leaving.set(key, null)
      left.push([table, leaving])
    }
    for (const [table, leaving] of left) {
      // An entry whose new table refuses it stays in its old table.
      for (const key of failures.keys()) leaving.delete(key)
      await apply(table, leaving)
    }
    await this.#dropAbandoned()
    await this.#neighbours.keepOnly(new Set([...tunnelling.entries.values()].flatMap(({ remotes }) => remotes)))
    // Last: packets are led only to a service that this node knows too.
    const inForce = new Map([...all].filter(([key]) => !failures.has(key) && !deserted.has(key)))
    for (const [key, error] of await this.#spread.apply(inForce, signal)) failures.set(key, error)
    return failures
  }

  /** A domain's only table stays when its last entry goes, since creating one takes longer than the next entry. */
  async #dropAbandoned(): Promise<void> {
    if (this.size === 0) return
    for (const table of this.#all) if (table.isInUse && table.entries.size === 0) await table.drop()
  }

  /** Leaves out entries whose members are indistinguishable from those of other entries. */
  #distinct(all: Wanted, stay: readonly Rendered[], failures: Map<string, Error>): Wanted {
    const ends = new EndsOfTunnels()
    for (const { remotes } of stay) ends.take(remotes)
    for (const [key, rendered] of all) {
      const why = rendered === null ? null : ends.take(rendered.remotes)
      if (why !== null) failures.set(key, new RangeError(why))
    }
    return failures.size === 0 ? all : new Map([...all].filter(([key]) => !failures.has(key)))
  }

  get #all(): readonly DomainTable[] {
    return Object.values(this.#tables)
  }
}
