import { LOCAL_DOMAIN } from '@spout/model/local-entries'
import type { DomainEntry, SecondChance as Settings } from '@spout/model/node-state'
import { type Clock, Mutex, systemClock } from '@spout/runtime'
import { findLink, HelperError, type Log, type NativeHelper } from '@spout/sys'
import type { Applied, EntryFollower, WantedEntry } from '../contracts/driver.ts'
import { type DomainConfig, rootNetns } from '../domain/domain-config.ts'
import { asMembersSee } from '../domain/domain-layout.ts'
import { domainNames, existingDomains } from '../domain/domain-names.ts'
import { type WholeTable, withoutTable } from '../nft/whole-table.ts'
import { frontEndsOf, hasFrontEnds, joined, onlyHere, vipsOnFabric } from './front-ends.ts'
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
 * The usual tables are loaded as a whole, which takes longer the more front ends there are. They follow load balancers
 * with at most this part of the time; until then flows of the newest ones get no second chance.
 */
const SHARE_OF_TIME = 0.02
const LONGEST_REST_MS = 60_000

const NO_FRONT_ENDS: ReadonlyMap<number, DomainFrontEnds> = new Map()

/**
 * Forwards packets of unknown connections to the node that owned their address before. After a planned move
 * (`GroupEntry.secondChance`) to the nodes that were left, for a limited time: those of the proxy and those of the packet
 * path. At other times to the nodes that elect owners with this one: TCP flows that only the node that translates them
 * can carry on, since members see its own address. An address may come from a node without a plan, for instance when its
 * agent ends. Follows entries to know their front ends. Otherwise nothing is in the kernel.
 */
export class SecondChance implements EntryFollower {
  readonly name = 'second-chance'
  readonly #given: SecondChanceOptions
  readonly #clock: Clock
  readonly #mutex = new Mutex()
  /** By entry key. */
  readonly #held = new Map<string, EntryFrontEnds>()
  #settings: Settings | null = null
  #usual: Hops<string | null> = NOBODY
  #endsAtMs = 0
  /** Whether a planned move was going on at the last look. */
  #wasMoving = false
  #isLooking = false
  #macs: Hops<string | null> = NOBODY
  /** Probes in a row that a hop did not answer. */
  #silent = { first: 0, next: 0 }
  /**
   * By domain: the front ends at the start of the move, since later ones have no connections on another node; without a
   * move those of the last look.
   */
  #frontEnds: ReadonlyMap<number, DomainFrontEnds> = new Map()
  /** The loaded tables, by namespace, family and name. */
  readonly #loaded = new Map<string, { readonly netns: string | undefined; readonly table: WholeTable }>()
  /** The loaded tables whose elements expire with the present move. Those of an earlier move expire before it is over. */
  readonly #current = new Set<string>()
  /** Whether an earlier agent may have left tables. */
  #unknown = true
  /** Whether the loaded tables may differ from the settings. */
  #due = true
  #restUntilMs = 0
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
    for (const key of changes.remove) this.#hold(key, null)
    for (const { key, entry, domain } of changes.put) {
      const frontEnds = frontEndsOf(entry, asMembersSee(this.#given.config, domain))
      const { nodeAddresses = {} } = domain
      const isMeant = entry.domain !== LOCAL_DOMAIN && hasFrontEnds(frontEnds)
      this.#hold(key, isMeant ? { domain: entry.domain, frontEnds, nodeAddresses } : null)
    }
    return []
  }

  /**
   * Forwards packets according to the settings; null ends that. A hop that does not answer on the segment gets none.
   * The same settings do not restart the time.
   * @param usual where packets of flows that only one node knows go while no move is planned
   * @throws HelperError, HelperLost: the loaded tables stay until the next `observe`
   */
  configure(settings: Settings | null, usual: Hops<string | null> = NOBODY): Promise<void> {
    return this.#mutex.run(async () => {
      const isSameMove = JSON.stringify(settings) === JSON.stringify(this.#settings)
      if (isSameMove && JSON.stringify(usual) === JSON.stringify(this.#usual) && !this.#due) return
      this.#usual = usual
      if (!isSameMove) {
        this.#settings = settings
        this.#endsAtMs = this.#clock.monotonicMs() + 1000 * (settings?.seconds ?? 0)
        if (settings !== null) this.#frontEnds = this.#frontEndsByDomain()
        this.#current.clear()
      }
      this.#forgetHops()
      await this.#look()
    })
  }

  /**
   * Checks that the hops still answer and the time is not over. Affects no entry. Without a move nobody waits for a hop
   * that does not answer.
   */
  async observe(): Promise<readonly string[]> {
    if (this.#isMoving() || (this.#due && !this.#unknown && !hasHop(this.#usual)))
      await this.#mutex.run(() => this.#look())
    else if ((this.#wasMoving || hasHop(this.#usual)) && !this.#isLooking) void this.#lookAside()
    return []
  }

  /** Leaves the tables loaded. The kernel expires the elements of those of a move. */
  async close(): Promise<void> {
    await this.#mutex.idle()
  }

  #hold(key: string, frontEnds: EntryFrontEnds | null): void {
    const before = this.#held.get(key) ?? null
    if (frontEnds === null) this.#held.delete(key)
    else this.#held.set(key, frontEnds)
    // Only the usual tables follow load balancers, and these have nothing of most.
    if (!hasHop(this.#usual) || this.#isMoving() || !(isOnlyHere(before) || isOnlyHere(frontEnds))) return
    if (JSON.stringify(before) !== JSON.stringify(frontEnds)) this.#due = true
  }

  #isMoving(): boolean {
    return this.#settings !== null && this.#clock.monotonicMs() < this.#endsAtMs
  }

  async #lookAside(): Promise<void> {
    this.#isLooking = true
    try {
      await this.#mutex.run(() => this.#look())
    } catch (error) {
      this.#given.log.debug({ error: String(error) }, 'second chances are looked after again later')
    } finally {
      this.#isLooking = false
    }
  }

  async #look(): Promise<void> {
    const move = this.#isMoving() ? this.#settings : null
    if (move === null && this.#wasMoving) this.#forgetHops()
    this.#wasMoving = move !== null
    const wasDue = this.#due && (move !== null || this.#clock.monotonicMs() >= this.#restUntilMs)
    if (move === null && wasDue) this.#frontEnds = hasHop(this.#usual) ? this.#alone() : NO_FRONT_ENDS
    // What changes from now on is for the next look.
    if (wasDue) this.#due = false
    try {
      const before = this.#macs
      const to = this.#frontEnds.size === 0 ? NOBODY : (move ?? this.#usual)
      const [first, next] = await Promise.all([this.#find('first', to.first), this.#find('next', to.next)])
      this.#macs = { first, next }
      // The tables of a move are compared each time, since their elements expire.
      if (move === null && !wasDue && before.first === first && before.next === next) return
      const beganMs = this.#clock.monotonicMs()
      const isWhole = first === null && next === null ? await this.#clear() : await this.#load(move)
      if (!isWhole && move === null) this.#due = true
      const endMs = this.#clock.monotonicMs()
      this.#restUntilMs = endMs + Math.min((endMs - beganMs) / SHARE_OF_TIME, LONGEST_REST_MS)
    } catch (error) {
      if (wasDue || move === null) this.#due = true
      throw error
    }
    this.#unknown = false
  }

  #forgetHops(): void {
    this.#macs = NOBODY
    this.#silent = { first: 0, next: 0 }
    this.#restUntilMs = 0
    this.#due = true
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

  /**
   * Loads the root's table first, since packets that a domain forwards before are lost.
   * @returns false if an interface is missing, for instance of a domain that is being made
   */
  async #load(move: Settings | null): Promise<boolean> {
    const { config } = this.#given
    const own = await findLink({ netns: config.rootNamespace || null, name: config.fabricInterface })
    if (own === null) return false
    const known = [...this.#frontEnds].map(([number, has]) => ({ number, ...has, names: domainNames(config, number) }))
    const domains: typeof known = []
    // A domain that could not be made, or is gone by now, must not stop the others.
    for (const each of known) if (await this.#isThere(each.names.rootLink)) domains.push(each)
    const uplinks = domains
      .map(({ number, frontEnds, names }) => ({ number, link: names.rootLink, addresses: vipsOnFabric(frontEnds) }))
      .filter(({ addresses }) => addresses.length > 0)
    const kept = new Set<string>()
    kept.add(await this.#put(rootNetns(config), rootTable(config, uplinks, this.#macs, own.mac)))
    const hops = { first: this.#macs.first !== null, next: this.#macs.next !== null }
    for (const { frontEnds, names, nodeAddresses } of domains) {
      const of = (node: string | undefined) => nodeAddresses[node ?? ''] ?? []
      const inside = { first: of(move?.firstNode), next: of(move?.nextNode) }
      for (const table of domainTables(names, frontEnds, hops, inside, move?.seconds ?? null))
        kept.add(await this.#put(names.netns, table))
    }
    for (const [key, { netns, table }] of this.#loaded)
      if (!kept.has(key)) {
        await this.#remove(netns, withoutTable(table.family, table.name))
        this.#loaded.delete(key)
      }
    return domains.length === known.length
  }

  #frontEndsByDomain(): ReadonlyMap<number, DomainFrontEnds> {
    const byDomain = Map.groupBy(this.#held.values(), ({ domain }) => domain)
    return new Map(
      [...byDomain].map(([number, held]) => [
        number,
        {
          frontEnds: joined(held.map(({ frontEnds }) => frontEnds)),
          nodeAddresses: held.at(-1)?.nodeAddresses ?? {},
        },
      ]),
    )
  }

  /** The front ends that need a second chance without a planned move, by domain. */
  #alone(): ReadonlyMap<number, DomainFrontEnds> {
    const all = [...this.#frontEndsByDomain()]
    const alone = all.map(([number, each]) => [number, { ...each, frontEnds: onlyHere(each.frontEnds) }] as const)
    return new Map(alone.filter(([, { frontEnds }]) => hasFrontEnds(frontEnds)))
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

  /** @returns the table's key in `#loaded` */
  async #put(netns: string | undefined, table: WholeTable): Promise<string> {
    const { family, name, mark, text } = table
    const key = `${netns ?? ''} ${family} ${name}`
    if (this.#loaded.get(key)?.table.mark === mark && this.#current.has(key)) return key
    const { helper } = this.#given
    const there = this.#unknown ? await helper.nftGeneration({ netns, family, table: name }) : null
    if (there?.comment !== mark) {
      await helper.nftText({ netns, text })
      this.#transactions++
    }
    this.#loaded.set(key, { netns, table })
    this.#current.add(key)
    return key
  }

  /** A domain that is being removed removes its tables, too. */
  async #remove(netns: string | undefined, text: string): Promise<void> {
    const { helper, log } = this.#given
    await helper
      .nftText({ netns, text })
      .catch((error: unknown) => log.debug({ netns, error: String(error) }, 'table not removed'))
  }

  /**
   * Removes the domains' tables first, since without the root's table their packets would be lost. The root's table
   * tells whether there are any.
   */
  async #clear(): Promise<true> {
    const { config, helper } = this.#given
    const [netns, table] = [rootNetns(config), rootTableName(config)]
    if (this.#loaded.size === 0) {
      if (!this.#unknown) return true
      if (!(await helper.nftGeneration({ netns, family: 'netdev', table })).exists) return true
    }
    for (const number of await existingDomains(config)) {
      const text = FAMILIES.map((family) => withoutTable(family, DOMAIN_TABLE)).join('')
      await this.#remove(domainNames(config, number).netns, text)
    }
    await helper.nftText({ netns, text: withoutTable('netdev', table) })
    this.#transactions++
    this.#loaded.clear()
    return true
  }
}

const isOnlyHere = (held: EntryFrontEnds | null): boolean => held !== null && hasFrontEnds(onlyHere(held.frontEnds))

const hasHop = ({ first, next }: Hops<string | null>): boolean => first !== null || next !== null
