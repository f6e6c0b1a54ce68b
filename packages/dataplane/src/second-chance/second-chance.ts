import type { DomainEntry, SecondChance as Settings } from '@spout/model/node-state'
import { type Clock, Mutex, systemClock } from '@spout/runtime'
import { findLink, HelperError, type Log, type NativeHelper } from '@spout/sys'
import type { Applied, EntryFollower, WantedEntry } from '../contracts/driver.ts'
import { type DomainConfig, rootNetns } from '../domain/domain-config.ts'
import { domainNames, existingDomains } from '../domain/domain-names.ts'
import { type WholeTable, withoutTable } from '../nft/whole-table.ts'
import { frontEndsOf, hasFrontEnds, joined, vipsOnFabric } from './front-ends.ts'
import { DOMAIN_TABLE, domainTables, type FrontEnds, type Hops, rootTable, rootTableName } from './tables.ts'

/** The front ends of an entry or a domain, and the nodes' addresses on its segment, by node id. */
interface DomainFrontEnds {
  readonly frontEnds: Required<FrontEnds>
  readonly nodeAddresses: NonNullable<DomainEntry['nodeAddresses']>
}

interface EntryFrontEnds extends DomainFrontEnds {
  readonly domain: number
}

export interface SecondChanceOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  readonly clock?: Clock
}

const PROBE_MS = 200
/**
 * A hop that answered before and is silent for this many probes in a row is dead: its connections are refused from then
 * on.
 */
const SILENT_LOOKS = 2
const NOBODY: Hops<null> = { first: null, next: null }
const FAMILIES = ['ip', 'ip6'] as const

/**
 * Forwards packets of unknown connections to the node that owned their address before a planned move
 * (`GroupEntry.secondChance`): those of the proxy, and flows whose members see an address that the nodes share. Follows
 * entries to know their front ends. Loads nothing into the kernel unless a move is in progress.
 */
export class SecondChance implements EntryFollower {
  readonly name = 'second-chance'
  readonly #given: SecondChanceOptions
  readonly #clock: Clock
  readonly #mutex = new Mutex()
  /** By entry key. */
  readonly #held = new Map<string, EntryFrontEnds>()
  #settings: Settings | null = null
  #endsAtMs = 0
  #macs: Hops<string | null> = NOBODY
  /** Probes in a row that a hop did not answer. */
  #silent = { first: 0, next: 0 }
  /** The front ends at the start of the move, by domain. Later ones have no connections on another node. */
  #frontEnds: ReadonlyMap<number, DomainFrontEnds> = new Map()
  /** Marks of the loaded tables, by namespace, family and name. */
  readonly #loaded = new Map<string, string>()
  /** The loaded tables whose elements expire with the present move. Those of an earlier move expire before it is over. */
  readonly #current = new Set<string>()
  /** Whether an earlier agent may have left tables. */
  #unknown = true
  /** Whether the loaded tables may differ from the settings. */
  #due = true
  #transactions = 0

  constructor(given: SecondChanceOptions) {
    this.#given = given
    this.#clock = given.clock ?? systemClock
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { transactions: this.#transactions, reloads: 0 }
  }

  async adopt(previous: readonly WantedEntry[]): Promise<void> {
    await this.apply({ put: previous, remove: [] })
  }

  async apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    for (const key of changes.remove) this.#held.delete(key)
    for (const wanted of changes.put) {
      const { entry, domain } = wanted
      const frontEnds = frontEndsOf(entry, domain)
      const { nodeAddresses = {} } = domain
      if (hasFrontEnds(frontEnds)) this.#held.set(wanted.key, { domain: entry.domain, frontEnds, nodeAddresses })
      else this.#held.delete(wanted.key)
    }
    return []
  }

  /**
   * Forwards packets according to the settings; null ends that. A hop that does not answer on the segment gets none.
   * The same settings do not restart the time.
   * @throws HelperError, HelperLost: the loaded tables stay until the next `observe`
   */
  configure(settings: Settings | null): Promise<void> {
    return this.#mutex.run(async () => {
      if (JSON.stringify(settings) === JSON.stringify(this.#settings) && !this.#due) return
      this.#settings = settings
      this.#macs = NOBODY
      this.#silent = { first: 0, next: 0 }
      this.#frontEnds = this.#frontEndsByDomain()
      this.#endsAtMs = this.#clock.monotonicMs() + 1000 * (settings?.seconds ?? 0)
      this.#current.clear()
      this.#due = true
      await this.#look()
    })
  }

  /** Checks that the hops still answer and the time is not over. Affects no entry. */
  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      if (this.#settings !== null || (this.#due && !this.#unknown)) await this.#look()
      return []
    })
  }

  /** Leaves the tables loaded. The kernel expires their elements. */
  async close(): Promise<void> {
    await this.#mutex.idle()
  }

  async #look(): Promise<void> {
    const settings = this.#settings
    if (settings === null || this.#clock.monotonicMs() >= this.#endsAtMs) await this.#clear()
    else {
      const [first, next] = await Promise.all([this.#find('first', settings.first), this.#find('next', settings.next)])
      this.#macs = { first, next }
      await (first === null && next === null ? this.#clear() : this.#load(settings))
    }
    this.#unknown = false
    this.#due = false
  }

  /** The hop's hardware address; null without a hop or an answer. */
  async #find(hop: 'first' | 'next', address: string | null): Promise<string | null> {
    if (address === null) return null
    const { config, helper, log } = this.#given
    const at = { netns: rootNetns(config), dev: config.fabricInterface, address, timeoutMs: PROBE_MS }
    const known = this.#macs[hop]
    do {
      const answer = await helper.arpProbe(at)
      this.#silent[hop] = answer.answered ? 0 : this.#silent[hop] + 1
      if (answer.answered) return answer.mac
    } while (known === null && this.#silent[hop] < SILENT_LOOKS)
    if (known !== null && this.#silent[hop] < SILENT_LOOKS) return known
    if (known !== null || this.#silent[hop] === SILENT_LOOKS)
      log.warn({ address }, 'a node does not answer: its connections are refused from now on')
    return null
  }

  /** Loads the root's table first, since packets that a domain forwards before are lost. */
  async #load(settings: Settings): Promise<void> {
    const { config } = this.#given
    const own = await findLink({ netns: config.rootNamespace || null, name: config.fabricInterface })
    if (own === null) return
    const known = [...this.#frontEnds].map(([number, has]) => ({ number, ...has, names: domainNames(config, number) }))
    const domains: typeof known = []
    // A domain that could not be made, or is gone by now, must not stop the others.
    for (const each of known) if (await this.#isThere(each.names.rootLink)) domains.push(each)
    const uplinks = domains
      .map(({ number, frontEnds, names }) => ({ number, link: names.rootLink, addresses: vipsOnFabric(frontEnds) }))
      .filter(({ addresses }) => addresses.length > 0)
    await this.#put(rootNetns(config), rootTable(config, uplinks, this.#macs, own.mac))
    const hops = { first: this.#macs.first !== null, next: this.#macs.next !== null }
    for (const { frontEnds, names, nodeAddresses } of domains) {
      const of = (node: string | undefined) => nodeAddresses[node ?? ''] ?? []
      const inside = { first: of(settings.firstNode), next: of(settings.nextNode) }
      for (const table of domainTables(names, frontEnds, hops, inside, settings.seconds))
        await this.#put(names.netns, table)
    }
  }

  #frontEndsByDomain(): ReadonlyMap<number, DomainFrontEnds> {
    const byDomain = new Map<number, DomainFrontEnds>()
    for (const { domain, frontEnds, nodeAddresses } of this.#held.values()) {
      const before = byDomain.get(domain)?.frontEnds
      byDomain.set(domain, { frontEnds: before === undefined ? frontEnds : joined(before, frontEnds), nodeAddresses })
    }
    return byDomain
  }

  async #isThere(rootLink: string): Promise<boolean> {
    const { config, helper } = this.#given
    try {
      return (await helper.linkIndex({ netns: rootNetns(config), dev: rootLink })) > 0
    } catch (error) {
      if (error instanceof HelperError && error.errno === 'ENODEV') return false
      throw error
    }
  }

  async #put(netns: string | undefined, { family, name, mark, text }: WholeTable): Promise<void> {
    const key = `${netns ?? ''} ${family} ${name}`
    if (this.#loaded.get(key) === mark && this.#current.has(key)) return
    const { helper } = this.#given
    const there = this.#unknown ? await helper.nftGeneration({ netns, family, table: name }) : null
    if (there?.comment !== mark) {
      await helper.nftText({ netns, text })
      this.#transactions++
    }
    this.#loaded.set(key, mark)
    this.#current.add(key)
  }

  /**
   * Removes the domains' tables first, since without the root's table their packets would be lost. The root's table
   * tells whether there are any.
   */
  async #clear(): Promise<void> {
    const { config, helper, log } = this.#given
    const [netns, table] = [rootNetns(config), rootTableName(config)]
    if (this.#loaded.size === 0) {
      if (!this.#unknown) return
      if (!(await helper.nftGeneration({ netns, family: 'netdev', table })).exists) return
    }
    for (const number of await existingDomains(config)) {
      const text = FAMILIES.map((family) => withoutTable(family, DOMAIN_TABLE)).join('')
      // A domain that is being removed removes its tables, too.
      await helper
        .nftText({ netns: domainNames(config, number).netns, text })
        .catch((error: unknown) => log.debug({ domain: number, error: String(error) }, 'table not removed'))
    }
    await helper.nftText({ netns, text: withoutTable('netdev', table) })
    this.#transactions++
    this.#loaded.clear()
  }
}
