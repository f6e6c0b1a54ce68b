import { ipBits, parseIp } from '@spout/net'
import { type Clock, Mutex, systemClock } from '@spout/runtime'
import { HelperError, type Log, type NativeHelper } from '@spout/sys'
import type { Announcement, AnnouncementDifference, AnnouncementOutcome, Announcer } from '../../contracts/announcer.ts'
import type { GroupReport } from '../../contracts/group-follower.ts'
import { announceAddresses, stopAnnouncing } from '../../domain/announce-addresses.ts'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'
import { domainNames, SEGMENT } from '../../domain/domain-names.ts'
import { addressesOn, markOf } from '../bound-addresses.ts'
import { type AddressConflict, AddressDefence } from './address-defence.ts'
import { type Candidate, DuplicateDetection } from './duplicate-detection.ts'

export interface L2AnnouncerOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** How long an address is refused that another host on the segment has; then it is bound. Default 30 s. */
  readonly insistAfterMs?: number
  readonly clock?: Clock
}

/** An interface on which addresses are announced. */
interface Place {
  readonly netns?: string
  readonly dev: string
}

/** At most this many addresses that another host claims are reported; more would add no information. */
const MOST_REPORTED = 100

/**
 * Announces addresses on a segment. Binds an address after duplicate detection, so that the kernel answers ARP and
 * neighbour solicitations, and sends gratuitous ARP and unsolicited neighbour advertisements.
 */
export class L2Announcer implements Announcer {
  readonly name = 'l2'
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #duplicates: DuplicateDetection
  readonly #defence: AddressDefence
  readonly #bound = new Map<string, Announcement>()
  /** Counts bound addresses by place; by domain for scope `tenant`. */
  readonly #used = new Map<number | 'fabric', number>()
  /** The addresses that were bound when the kernel had these marks; null if `#bound` must be listed again. */
  #seen: { readonly marks: string; present: readonly Announcement[] | null } | null = null
  #changes = 0
  readonly #mutex = new Mutex()

  constructor(options: L2AnnouncerOptions) {
    this.#config = options.config
    this.#helper = options.helper
    this.#log = options.log
    this.#duplicates = new DuplicateDetection(options)
    this.#defence = new AddressDefence({ ...options, clock: options.clock ?? systemClock })
  }

  /**
   * Counters since the start: requests that changed addresses; addresses refused because another host has them;
   * addresses bound all the same; announcements in answer to a claim; and claims that were the previous owner's last.
   */
  get counters(): {
    readonly changes: number
    readonly refused: number
    readonly insisted: number
    readonly defended: number
    readonly dismissed: number
  } {
    const { defended, dismissed } = this.#defence
    return { changes: this.#changes, ...this.#duplicates.counters, defended, dismissed }
  }

  /** Addresses of this node that another host claimed within the last minute. */
  conflicts(): readonly AddressConflict[] {
    return this.#defence.conflicts()
  }

  /** Calls back when conflicts change. @returns a function that unsubscribes */
  onConflicts(listener: (conflicts: readonly AddressConflict[]) => void): () => void {
    return this.#defence.onChange(listener)
  }

  /** @returns a function that ends it */
  onReport(listener: (report: GroupReport) => void): () => void {
    return this.onConflicts((conflicts) => listener({ addressConflicts: conflicts.slice(0, MOST_REPORTED) }))
  }

  /** Records which addresses of `previous` are bound. The next `apply` binds the others. */
  adopt(previous: readonly Announcement[]): Promise<void> {
    return this.#mutex.run(async () => {
      this.#bound.clear()
      this.#used.clear()
      this.#seen = null
      const present = await this.#present(previous)
      for (const announcement of present) this.#hold(announcement)
      await this.#each(present, (place, group) => this.#defence.hold(place, group.map(addressOf)))
    })
  }

  /** If the kernel refuses an address, it is reported and stops no other. */
  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    return this.#mutex.run(async () => {
      const keys = new Set(wanted.map(keyOf))
      const go = [...this.#bound.values()].filter((announcement) => !keys.has(keyOf(announcement)))
      return this.#change(wanted, go, signal)
    })
  }

  change({ come, go }: AnnouncementDifference, signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    return this.#mutex.run(() => {
      // An address may be in both lists if it is announced in another way; it stays bound.
      const coming = new Set(come.map(keyOf))
      const leaving = go.filter((each) => this.#bound.has(keyOf(each)) && !coming.has(keyOf(each)))
      return this.#change(come, leaving, signal)
    })
  }

  /** Addresses that are bound in the kernel. Lost ones are forgotten, so that the next `apply` binds them again. */
  observe(): Promise<readonly Announcement[]> {
    return this.#mutex.run(async () => {
      const marks = await this.#marks()
      if (this.#seen === null || marks !== this.#seen.marks) {
        const present = await this.#present([...this.#bound.values()])
        const keys = new Set(present.map(keyOf))
        const lost = [...this.#bound.values()].filter((each) => !keys.has(keyOf(each)))
        for (const each of lost) this.#release(each)
        await this.#each(lost, (place, group) => this.#fallSilent(place, group))
        this.#seen = { marks, present }
      }
      this.#seen.present ??= [...this.#bound.values()]
      return this.#seen.present
    })
  }

  /** Change marks of the namespaces with bound addresses. While they stay the same, all addresses are bound. */
  async #marks(): Promise<string> {
    const marks: string[] = []
    for (const where of this.#used.keys()) {
      const place = this.#placeOf(where === 'fabric' ? { scope: where, domain: 0 } : { scope: 'tenant', domain: where })
      marks.push(`${where} ${await markOf(this.#helper, place.netns)}`)
    }
    return marks.join()
  }

  async #change(
    wanted: readonly Announcement[],
    leaving: readonly Announcement[],
    signal: AbortSignal,
  ): Promise<readonly AnnouncementOutcome[]> {
    signal.throwIfAborted()
    await this.#each(leaving, (place, group) => this.#unbind(place, group))
    const coming = wanted.filter((announcement) => !this.#bound.has(keyOf(announcement)))
    const errors = new Map(await this.#duplicates.refused(coming.flatMap((each) => this.#candidate(each))))
    const free = coming.filter((announcement) => !errors.has(keyOf(announcement)))
    await this.#each(free, async (place, group) => {
      for (const [key, words] of await this.#bind(place, group)) errors.set(key, words)
    })
    return wanted.map((announcement) => ({ announcement, error: errors.get(keyOf(announcement)) ?? null }))
  }

  /** Leaves the addresses bound: another process adopts them, or a drain has withdrawn them. */
  async close(): Promise<void> {
    await this.#mutex.idle()
    this.#defence.close()
  }

  #placeOf({ scope, domain }: Pick<Announcement, 'scope' | 'domain'>): Place {
    return scope === 'fabric'
      ? { netns: rootNetns(this.#config), dev: this.#config.fabricInterface }
      : { netns: domainNames(this.#config, domain).netns, dev: SEGMENT }
  }

  /** Empty for a takeover from another node of the group: detection would find that node, and delay the move. */
  #candidate(announcement: Announcement): readonly Candidate[] {
    const { address, takeover } = announcement
    return takeover ? [] : [{ key: keyOf(announcement), address, ...this.#placeOf(announcement) }]
  }

  async #each(
    announcements: readonly Announcement[],
    work: (place: Place, group: readonly Announcement[]) => Promise<void>,
  ): Promise<void> {
    for (const { place, group } of this.#byPlace(announcements)) await work(place, group)
  }

  #byPlace(announcements: readonly Announcement[]): readonly { place: Place; group: Announcement[] }[] {
    const groups = new Map<string, { place: Place; group: Announcement[] }>()
    for (const announcement of announcements) {
      const place = this.#placeOf(announcement)
      const name = `${place.netns ?? ''} ${place.dev}`
      const known = groups.get(name) ?? { place, group: [] }
      known.group.push(announcement)
      groups.set(name, known)
    }
    return [...groups.values()]
  }

  async #present(announcements: readonly Announcement[]): Promise<readonly Announcement[]> {
    const present: Announcement[] = []
    await this.#each(announcements, async (place, group) => {
      const there = await addressesOn(this.#helper, place)
      present.push(...group.filter(({ address }) => there.has(address)))
    })
    return present
  }

  /** Resolves with the refused addresses and the kernel's error texts, by key. */
  async #bind(place: Place, group: readonly Announcement[]): Promise<ReadonlyMap<string, string>> {
    const errors = new Map<string, string>()
    try {
      this.#changes++
      await this.#helper.addr({ netns: place.netns, changes: group.map((each) => change('add', place, each)) })
    } catch (error) {
      this.#seen = null
      if (!(error instanceof HelperError)) throw error
      const refused = error.refused.map(({ index }) => group[index]).filter((each) => each !== undefined)
      for (const each of refused.length > 0 ? refused : group) errors.set(keyOf(each), error.message)
      this.#log.warn({ dev: place.dev, refused: errors.size, error: error.message }, 'addresses not bound')
    }
    const bound = group.filter((each) => !errors.has(keyOf(each)))
    for (const each of bound) this.#hold(each)
    // First, since another node may still hold and defend the address. Hosts believe the last announcement.
    const takenOver = new Set(bound.filter(({ takeover }) => takeover).map(addressOf))
    await this.#defence.hold(place, bound.map(addressOf), takenOver)
    try {
      await announceAddresses(this.#helper, place, bound.map(addressOf))
    } catch (error) {
      // The address is bound, so it answers requests. Neighbours with an old entry learn of it later.
      this.#log.warn({ dev: place.dev, error: String(error) }, 'addresses not announced')
    }
    return errors
  }

  async #unbind(place: Place, group: readonly Announcement[]): Promise<void> {
    try {
      this.#changes++
      // First, since the node that takes the address over may announce it already.
      await this.#fallSilent(place, group)
      await this.#helper.addr({ netns: place.netns, changes: group.map((each) => change('delete', place, each)) })
    } catch (error) {
      // If the domain or interface is gone, so is the address.
      this.#seen = null
      if (!(error instanceof HelperError)) throw error
      this.#log.warn({ dev: place.dev, error: error.message }, 'addresses not unbound')
    }
    for (const each of group) this.#release(each)
  }

  /** Stops defending the addresses, and cancels the remaining announcements. */
  async #fallSilent(place: Place, group: readonly Announcement[]): Promise<void> {
    await this.#defence.release(place, group.map(addressOf))
    try {
      await stopAnnouncing(this.#helper, place, group.map(addressOf))
    } catch (error) {
      // A missing interface announces nothing.
      if (!(error instanceof HelperError)) throw error
    }
  }

  #hold(announcement: Announcement): void {
    this.#release(announcement)
    const where = whereOf(announcement)
    this.#bound.set(keyOf(announcement), announcement)
    this.#used.set(where, (this.#used.get(where) ?? 0) + 1)
    if (this.#seen !== null) this.#seen.present = null
  }

  #release(announcement: Announcement): void {
    if (!this.#bound.delete(keyOf(announcement))) return
    const where = whereOf(announcement)
    const left = this.#used.get(where)! - 1
    if (left === 0) this.#used.delete(where)
    else this.#used.set(where, left)
    if (this.#seen !== null) this.#seen.present = null
  }
}

const addressOf = ({ address }: Announcement): string => address

const whereOf = ({ scope, domain }: Announcement): number | 'fabric' => (scope === 'fabric' ? scope : domain)

const keyOf = ({ scope, domain, address }: Announcement): string =>
  scope === 'fabric' ? address : `${domain}/${address}`

const change = (action: 'add' | 'delete', { dev }: Place, { address }: Announcement) => ({
  do: action,
  dev,
  address,
  prefix: ipBits(parseIp(address).version),
})
