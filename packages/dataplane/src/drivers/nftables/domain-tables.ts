import type { HelperError, Log, NativeHelper } from '@spout/sys'
import { DomainTable, type Wanted } from './domain-table.ts'
import type { Rendered, TableKind } from './rendered.ts'
import { TunnelNeighbours } from './tunnel-neighbours.ts'

/**
 * The tables of one domain. An entry is in one of them: in which one is its network's return path, and all entries of a
 * network share it. The other is not even made.
 */
export class DomainTables {
  readonly #tables: Readonly<Record<TableKind, DomainTable>>
  readonly #neighbours: TunnelNeighbours

  constructor(options: { readonly helper: NativeHelper; readonly log: Log; readonly netns: string }) {
    this.#tables = {
      translating: new DomainTable({ ...options, kind: 'translating' }),
      forwarding: new DomainTable({ ...options, kind: 'forwarding' }),
      tunnelling: new DomainTable({ ...options, kind: 'tunnelling' }),
    }
    this.#neighbours = new TunnelNeighbours(options)
  }

  get size(): number {
    return this.#all.reduce((sum, { entries }) => sum + entries.size, 0)
  }

  /** Whether there is something in the kernel to be set right, though no entry changes. */
  get needsLoad(): boolean {
    return this.#all.some(({ needsLoad }) => needsLoad)
  }

  get transactions(): number {
    return this.#all.reduce((sum, { transactions }) => sum + transactions, 0)
  }

  get(key: string): Rendered | undefined {
    for (const { entries } of this.#all) if (entries.has(key)) return entries.get(key)
    return undefined
  }

  entries(): readonly Rendered[] {
    return this.#all.flatMap(({ entries }) => [...entries.values()])
  }

  /** Takes the entries for what the kernel holds where its generation agrees; else the next `apply` loads a table anew. */
  async adopt(entries: ReadonlyMap<string, Rendered>): Promise<void> {
    for (const [kind, table] of Object.entries(this.#tables))
      await table.adopt(new Map([...entries].filter(([, { table: own }]) => own === kind)))
    if (this.#tables.tunnelling.isInUse) await this.#neighbours.adopt()
  }

  /** Keys of entries that the kernel no longer holds as they were applied. */
  async lost(): Promise<readonly string[]> {
    const lost: string[] = []
    for (const table of this.#all) if (table.isInUse && !(await table.observe())) lost.push(...table.entries.keys())
    if (!(await this.#neighbours.observe())) lost.push(...this.#tables.tunnelling.entries.keys())
    return [...new Set(lost)]
  }

  /** Resolves with the entries the kernel refused and its words; all others are in force, refused ones as they were before. */
  async apply(wanted: Wanted, signal: AbortSignal): Promise<ReadonlyMap<string, HelperError>> {
    const failures = new Map<string, HelperError>()
    const apply = async (table: DomainTable, some: Wanted): Promise<void> => {
      if (some.size === 0 && !table.needsLoad) return
      for (const [key, error] of await table.apply(some, signal)) failures.set(key, error)
    }
    const remotes = () => [...this.#tables.tunnelling.entries.values()].flatMap((each) => each.remotes)
    // A packet is never forwarded to where nothing leads.
    await this.#neighbours.add([...remotes(), ...[...wanted.values()].flatMap((rendered) => rendered?.remotes ?? [])])
    const tables = Object.entries(this.#tables) as [TableKind, DomainTable][]
    const movers: [DomainTable, string][] = []
    for (const [kind, table] of tables) {
      const own = new Map<string, Rendered | null>()
      for (const [key, rendered] of wanted)
        if (rendered?.table === kind || (rendered === null && table.entries.has(key))) own.set(key, rendered)
        else if (rendered !== null && table.entries.has(key)) movers.push([table, key])
      await apply(table, own)
    }
    // What moves to the other table stays in its own when that one is refused.
    for (const [table, key] of movers) if (!failures.has(key)) await apply(table, new Map([[key, null]]))
    await this.#neighbours.keepOnly(new Set(remotes()))
    return failures
  }

  get #all(): readonly DomainTable[] {
    return Object.values(this.#tables)
  }
}
