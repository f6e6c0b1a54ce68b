import type { ServiceStats } from '@spout/model/node-report'
import { isProxied } from '@spout/model/protocols'
import { Mutex } from '@spout/runtime'
import type { Log, NativeHelper } from '@spout/sys'
import type { Applied, DataPlaneDriver, WantedEntry } from '../../contracts/driver.ts'
import type { DomainConfig } from '../../domain/domain-config.ts'
import { domainNames, existingDomains } from '../../domain/domain-names.ts'
import { LeftoversGrace } from '../../domain/leftovers-grace.ts'
import { DomainTables } from './domain-tables.ts'
import { render } from './render.ts'
import type { Rendered } from './rendered.ts'
import { ServiceStatistics } from './service-statistics.ts'

export interface NftablesDriverOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** How long elements without an entry are kept after `adopt`. Default 30 s. */
  readonly leftoversGraceMs?: number
}

/** The features that entries may need. */
const FEATURES = [
  'l4.tcp',
  'l4.udp',
  'l4.sctp',
  'l4.refused-shares',
  'l4.client-networks',
  'l4.redirect',
  'l4.member-nodes',
  'dsr',
]

/**
 * Balances TCP, UDP and SCTP in the packet path: two maps per domain and address family, one transaction per change.
 * Packets are translated, or forwarded unchanged with return path `dsr`. Redirects proxied services to the proxy.
 */
export class NftablesDriver implements DataPlaneDriver<Rendered> {
  readonly name = 'nftables'
  readonly features: ReadonlySet<string> = new Set(FEATURES)
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #statistics: ServiceStatistics
  readonly #grace: LeftoversGrace
  readonly #tables = new Map<number, DomainTables>()
  readonly #prepared = new WeakMap<WantedEntry, Rendered>()
  /** The domain of each entry. */
  readonly #domains = new Map<string, number>()
  readonly #mutex = new Mutex()

  constructor(options: NftablesDriverOptions) {
    this.#config = options.config
    this.#helper = options.helper
    this.#log = options.log
    this.#statistics = new ServiceStatistics(options)
    this.#grace = new LeftoversGrace(options)
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    let transactions = 0
    for (const table of this.#tables.values()) transactions += table.transactions
    return { transactions, reloads: 0 }
  }

  render(wanted: WantedEntry): Rendered {
    return render(wanted)
  }

  /** Renders what depends on the entry alone. The proxy's port is known only after the proxy has applied the entry. */
  prepare(soon: readonly WantedEntry[]): void {
    for (const wanted of soon)
      if (wanted.entry.services.every((service) => !isProxied(service.protocol)))
        try {
          this.#prepared.set(wanted, this.render(wanted))
        } catch {
          // `apply` reports what is wrong with it.
        }
  }

  adopt(previous: readonly WantedEntry[]): Promise<void> {
    return this.#mutex.run(async () => {
      this.#grace.begin()
      this.#tables.clear()
      this.#domains.clear()
      // Domains without entries may hold elements of an agent that lost its state.
      const there = await existingDomains(this.#config)
      const byDomain = new Map<number, Map<string, Rendered>>(there.map((domain) => [domain, new Map()]))
      for (const rendered of this.#renderEach(previous).rendered) {
        byDomain.set(rendered.domain, (byDomain.get(rendered.domain) ?? new Map()).set(rendered.key, rendered))
        this.#domains.set(rendered.key, rendered.domain)
      }
      for (const [domain, entries] of byDomain) await this.#table(domain).adopt(entries)
    })
  }

  apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]> {
    return this.#mutex.run(async () => {
      const { rendered, malformed } = this.#renderEach(changes.put)
      const byDomain = this.#split(rendered, changes.remove)
      const refused = new Map<string, string>()
      await Promise.all(
        Array.from(byDomain, async ([domain, wanted]) => {
          const table = this.#table(domain)
          const failures = await this.#applyTable(table, wanted, signal)
          for (const [key, words] of failures) refused.set(key, words)
        }),
      )
      for (const { key, domain } of rendered) if (!refused.has(key)) this.#domains.set(key, domain)
      for (const key of changes.remove) if (!refused.has(key)) this.#domains.delete(key)
      const notRemoved = changes.remove.filter((key) => refused.has(key))
      return [...rendered.map(({ key }) => key), ...notRemoved]
        .map((key): Applied => appliedAs(key, refused.get(key)))
        .concat(malformed)
    })
  }

  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      const lost: string[] = []
      for (const tables of this.#tables.values()) lost.push(...(await tables.lost()))
      return lost
    })
  }

  /** Counters of balanced listeners. The proxy counts proxied ones. */
  stats(): Promise<readonly ServiceStats[]> {
    // Not serialized with changes, which must not wait until thousands of counters are read.
    const tables = Array.from(this.#tables, ([domain, table]) => {
      return [domainNames(this.#config, domain).netns, table.entries()] as const
    })
    return this.#statistics.read(new Map(tables))
  }

  /** Leaves everything in force, since forwarding does not need the agent. */
  async close(): Promise<void> {
    await this.#mutex.idle()
  }

  /** An entry with invalid values stops no other. */
  #renderEach(wanted: readonly WantedEntry[]): { readonly rendered: Rendered[]; readonly malformed: Applied[] } {
    const rendered: Rendered[] = []
    const malformed: Applied[] = []
    for (const entry of wanted) {
      try {
        rendered.push(this.#prepared.get(entry) ?? this.render(entry))
      } catch (error) {
        this.#log.warn({ key: entry.key, error: String(error) }, 'an entry cannot be rendered')
        malformed.push({ key: entry.key, state: 'failed', reason: 'EntryRefused', message: String(error) })
      }
    }
    return { rendered, malformed }
  }

  #table(domain: number): DomainTables {
    const known = this.#tables.get(domain)
    if (known !== undefined) return known
    const { netns } = domainNames(this.#config, domain)
    const table = new DomainTables({ helper: this.#helper, log: this.#log, netns })
    this.#tables.set(domain, table)
    return table
  }

  /** The changes of each domain's tables. Removals come first, so that a released address is free. */
  #split(put: readonly Rendered[], remove: readonly string[]): ReadonlyMap<number, Map<string, Rendered | null>> {
    const byDomain = new Map<number, Map<string, Rendered | null>>()
    const tell = (domain: number, key: string, rendered: Rendered | null) =>
      byDomain.set(domain, (byDomain.get(domain) ?? new Map<string, Rendered | null>()).set(key, rendered))
    for (const key of remove) {
      const domain = this.#domains.get(key)
      if (domain !== undefined) tell(domain, key, null)
    }
    for (const { key, domain } of put) {
      const former = this.#domains.get(key)
      if (former !== undefined && former !== domain) tell(former, key, null)
    }
    for (const rendered of put) tell(rendered.domain, rendered.key, rendered)
    for (const [domain, table] of this.#tables)
      if (table.needsLoad && !byDomain.has(domain) && (table.size > 0 || this.#grace.isOver))
        byDomain.set(domain, new Map())
    return byDomain
  }

  async #applyTable(
    table: DomainTables,
    wanted: ReadonlyMap<string, Rendered | null>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    try {
      const failures = await table.apply(wanted, signal)
      return new Map(Array.from(failures, ([key, error]) => [key, error.message]))
    } catch (error) {
      // The whole domain is unreachable (no namespace, or no helper). Other domains continue.
      if (signal.aborted) throw error
      const words = error instanceof Error ? error.message : String(error)
      return new Map(Array.from(wanted.keys(), (key) => [key, words]))
    }
  }
}

const appliedAs = (key: string, refused: string | undefined): Applied =>
  refused === undefined
    ? { key, state: 'programmed', reason: null, message: null }
    : { key, state: 'failed', reason: 'KernelRefused', message: refused }
