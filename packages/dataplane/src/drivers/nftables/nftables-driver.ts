import type { ServiceStats } from '@spout/model/node-report'
import { isProxied } from '@spout/model/protocols'
import { type Clock, Serial, systemClock } from '@spout/runtime'
import { HelperError, type Log, type NativeHelper } from '@spout/sys'
import type { Applied, DataPlaneDriver, WantedEntry } from '../../contracts/driver.ts'
import type { DomainConfig } from '../../domain/domain-config.ts'
import { domainNames, existingDomains } from '../../domain/domain-names.ts'
import { LeftoversGrace } from '../../domain/leftovers-grace.ts'
import { VipSteering } from '../../domain/vip-steering.ts'
import { DomainTables } from './domain-tables.ts'
import { FlowCuts } from './flow-cuts.ts'
import { type FindFrontDoor, render } from './render.ts'
import type { Rendered } from './rendered.ts'
import { ServiceStatistics } from './service-statistics.ts'

export interface NftablesDriverOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** Where the proxy of a listener's domain accepts; asked at each `render`. Default: nowhere. */
  readonly proxyPort?: FindFrontDoor
  /** Where drains under way are kept for the next agent. Default: in memory alone. */
  readonly drainFile?: string
  readonly clock?: Clock
  /** How long elements and routes that no entry names are kept after `adopt`. Default 30 s. */
  readonly leftoversGraceMs?: number
}

/** What the planner may ask for. */
const FEATURES = ['l4.tcp', 'l4.udp', 'l4.sctp', 'dsr']

/**
 * Balances TCP and UDP in the packet path: two maps per domain and address family, a transaction per change. Packets are
 * translated, or forwarded as they are with return path `dsr`. Also the front door of the proxy, and the steering of VIPs
 * into their domains.
 */
export class NftablesDriver implements DataPlaneDriver<Rendered> {
  readonly name = 'nftables'
  readonly features: ReadonlySet<string> = new Set(FEATURES)
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #findFrontDoor: FindFrontDoor
  readonly #steering: VipSteering
  readonly #statistics: ServiceStatistics
  readonly #grace: LeftoversGrace
  readonly #flowCuts: FlowCuts
  readonly #tables = new Map<number, DomainTables>()
  readonly #prepared = new WeakMap<WantedEntry, Rendered>()
  /** The domain each entry is in. */
  readonly #domains = new Map<string, number>()
  readonly #serial = new Serial()

  constructor(options: NftablesDriverOptions) {
    this.#config = options.config
    this.#helper = options.helper
    this.#log = options.log
    this.#findFrontDoor = options.proxyPort ?? (() => null)
    this.#steering = new VipSteering(options)
    this.#statistics = new ServiceStatistics(options)
    this.#grace = new LeftoversGrace(options)
    this.#flowCuts = new FlowCuts({
      ...options,
      clock: options.clock ?? systemClock,
      file: options.drainFile ?? null,
      find: (key) => this.#find(key),
      onDue: () => void this.#serial.run(() => this.#flowCuts.run()),
    })
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    let transactions = this.#steering.counters.changes
    for (const table of this.#tables.values()) transactions += table.transactions
    return { transactions, reloads: 0 }
  }

  render(wanted: WantedEntry): Rendered {
    return render(wanted, this.#findFrontDoor)
  }

  /** Renders what depends on the entry alone; where the proxy accepts is known only when its turn has come. */
  prepare(soon: readonly WantedEntry[]): void {
    for (const wanted of soon)
      if (wanted.entry.services.every((service) => !isProxied(service.protocol)))
        try {
          this.#prepared.set(wanted, this.render(wanted))
        } catch {
          // Its own turn says what is wrong with it.
        }
  }

  adopt(previous: readonly WantedEntry[]): Promise<void> {
    return this.#serial.run(async () => {
      this.#grace.begin()
      this.#tables.clear()
      this.#domains.clear()
      // Domains without entries may still hold those of an agent that forgot them.
      const there = await existingDomains(this.#config)
      const byDomain = new Map<number, Map<string, Rendered>>(there.map((domain) => [domain, new Map()]))
      for (const rendered of this.#renderEach(previous).rendered) {
        byDomain.set(rendered.domain, (byDomain.get(rendered.domain) ?? new Map()).set(rendered.key, rendered))
        this.#domains.set(rendered.key, rendered.domain)
      }
      for (const [domain, entries] of byDomain) await this.#table(domain).adopt(entries)
      await this.#steering.adopt(
        [...byDomain.values()].flatMap((entries) => [...entries.values()]),
        there,
      )
      await this.#flowCuts.adopt([...byDomain.values()].flatMap((entries) => [...entries.values()]))
    })
  }

  apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]> {
    return this.#serial.run(async () => {
      const { rendered, malformed } = this.#renderEach(changes.put)
      const byDomain = this.#split(rendered, changes.remove)
      const refused = new Map<string, string>()
      await Promise.all(
        Array.from(byDomain, async ([domain, wanted]) => {
          const table = this.#table(domain)
          const before = new Map(Array.from(wanted.keys(), (key) => [key, table.get(key)]))
          const failures = await this.#applyTable(table, wanted, signal)
          for (const [key, words] of failures) refused.set(key, words)
          for (const [key, after] of wanted)
            if (after !== null && !failures.has(key)) this.#flowCuts.follow(before.get(key) ?? null, after)
        }),
      )
      const programmed = rendered.filter(({ key }) => !refused.has(key))
      for (const { key, domain } of programmed) this.#domains.set(key, domain)
      const removed = changes.remove.filter((key) => !refused.has(key))
      for (const key of removed) {
        this.#domains.delete(key)
        this.#flowCuts.forget(key)
      }
      const unsteered = await this.#steer(programmed, removed)
      await this.#flowCuts.run()
      return rendered
        .map(({ key }): Applied => verdict(key, refused.get(key), unsteered))
        .concat(changes.remove.filter((key) => refused.has(key)).map((key) => verdict(key, refused.get(key), null)))
        .concat(malformed)
    })
  }

  observe(): Promise<readonly string[]> {
    return this.#serial.run(async () => {
      const lost: string[] = []
      for (const tables of this.#tables.values()) lost.push(...(await tables.lost()))
      const steered = await this.#steering.observe().catch((error: unknown) => {
        if (error instanceof HelperError) return false
        throw error
      })
      return steered ? lost : [...this.#domains.keys()]
    })
  }

  /** Counters of balanced listeners; those of proxied ones are the proxy's. */
  stats(): Promise<readonly ServiceStats[]> {
    // Not in turn: a change must not wait until thousands of counters are read.
    const tables = Array.from(this.#tables, ([domain, table]) => {
      return [domainNames(this.#config, domain).netns, table.entries()] as const
    })
    return this.#statistics.read(new Map(tables))
  }

  /** Leaves everything in force: traffic does not need the agent. */
  async close(): Promise<void> {
    this.#flowCuts.close()
    await this.#serial.idle()
    this.#flowCuts.close()
  }

  #find(key: string): { readonly netns: string; readonly rendered: Rendered } | undefined {
    const domain = this.#domains.get(key)
    const rendered = domain === undefined ? undefined : this.#tables.get(domain)?.get(key)
    return domain === undefined || rendered === undefined
      ? undefined
      : { netns: domainNames(this.#config, domain).netns, rendered }
  }

  /** An entry with what the model admits nowhere stops no other. */
  #renderEach(wanted: readonly WantedEntry[]): { readonly rendered: Rendered[]; readonly malformed: Applied[] } {
    const rendered: Rendered[] = []
    const malformed: Applied[] = []
    for (const entry of wanted) {
      try {
        rendered.push(this.#prepared.get(entry) ?? this.render(entry))
      } catch (error) {
        this.#log.warn({ key: entry.key, error: String(error) }, 'entry cannot be rendered')
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

  /** What each domain's table is to be told; removals first, so that an address given up is free. */
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
      // The whole domain is out of reach (no namespace, helper gone for good): other domains go on.
      if (signal.aborted) throw error
      const words = error instanceof Error ? error.message : String(error)
      return new Map(Array.from(wanted.keys(), (key) => [key, words]))
    }
  }

  async #steer(put: readonly Rendered[], remove: readonly string[]): Promise<string | null> {
    try {
      await this.#steering.apply({ put, remove }, this.#grace.isOver)
      return null
    } catch (error) {
      this.#log.warn({ error: String(error) }, 'routes for VIPs refused')
      return error instanceof Error ? error.message : String(error)
    }
  }
}

const verdict = (key: string, refused: string | undefined, unsteered: string | null): Applied => {
  if (refused !== undefined) return { key, state: 'failed', reason: 'KernelRefused', message: refused }
  if (unsteered !== null) return { key, state: 'failed', reason: 'SteeringFailed', message: unsteered }
  return { key, state: 'programmed', reason: null, message: null }
}
