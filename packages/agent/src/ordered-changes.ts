import type { Announcement, EntryFollower, GroupFollower, SlowStarts, WantedEntry } from '@spout/dataplane'
import { domainKey, domainOfKey, GROUP_KEY, isLoadBalancerKey } from '@spout/model/entry-keys'
import type { DomainEntry } from '@spout/model/node-state'
import { applyEntries, applyToDomains, failureOf } from './apply-result.ts'
import type { Domains } from './domains.ts'
import type { DriverChoice } from './driver-choice.ts'
import { announcementsOf, type EntryAnnouncements, gatewayAnnouncements, markTakeovers } from './entry-announcements.ts'
import type { EntryStatuses } from './entry-statuses.ts'
import { PreparedEntries } from './prepared-entries.ts'
import type { StateFile } from './state-file.ts'
import { type Held, unreadable, type WantedState } from './wanted-state.ts'

export interface OrderedChangesOptions {
  readonly domains: Domains
  readonly choice: DriverChoice
  readonly preparers: readonly EntryFollower[]
  readonly followers: readonly EntryFollower[]
  readonly group: Pick<GroupFollower, 'follow'>
  readonly announcements: EntryAnnouncements
  readonly wanted: WantedState
  readonly statuses: EntryStatuses
  readonly slowStarts: SlowStarts
  readonly state: Pick<StateFile, 'handedOver'>
  /**
   * Called when a domain changed: the entries in it must be applied again, except those that are applied after it
   * anyway.
   */
  readonly onDomainChanged: (number: number, underWay: ReadonlySet<string>) => void
}

type Put = readonly [string, Held]

const NONE: ReadonlySet<string> = new Set()

/**
 * Applies wanted entries in a fixed order: group membership, new domains, withdrawals of addresses, drivers,
 * announcements, removed domains. So no address is announced before the data plane confirmed it, and nothing is removed
 * while its address is announced. What is removed is withdrawn before the group membership changes.
 */
export class OrderedChanges {
  readonly #options: OrderedChangesOptions
  readonly #prepared: PreparedEntries
  readonly #down = new Map<string, ReadonlySet<string>>()

  constructor(options: OrderedChangesOptions) {
    this.#options = options
    this.#prepared = new PreparedEntries(options.choice)
  }

  /** Sets the members that get no new connections. @returns whether they changed */
  setDown(key: string, members: ReadonlySet<string>): boolean {
    const before = this.#down.get(key) ?? NONE
    if (before.size === members.size && members.isSubsetOf(before)) return false
    if (members.size === 0) this.#down.delete(key)
    else this.#down.set(key, members)
    return true
  }

  /** As `PreparedEntries.begin`. */
  prepare(keys: Iterable<string>, most: number): { end(): void } {
    return this.#prepared.begin(keys, most, (key) => {
      const held = this.#options.wanted.get(key)
      return held === undefined || unreadable(held.entry) !== null ? null : this.#withDomain(key, held)
    })
  }

  /** Applies the keys. An entry that fails keeps its previous state and stops no other. */
  async make(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const { wanted } = this.#options
    const held = keys.map((key) => [key, wanted.get(key)] as const)
    const put = held.flatMap(([key, one]): Put[] => (one === undefined ? [] : [[key, one]]))
    const gone = held.flatMap(([key, one]) => (one === undefined ? [key] : []))
    if (keys.includes(GROUP_KEY)) {
      await this.#withdrawGone(gone, signal)
      await this.applyGroup(signal)
    }
    const domains = put.filter(([, { entry }]) => entry.kind === 'domain')
    await this.applyDomains(domains, signal, new Set(keys))
    await this.#announceGateways(domains, signal)
    await this.#changeLoadBalancers(put, gone.filter(isLoadBalancerKey), signal)
    await this.#removeDomains(
      gone.filter((key) => !isLoadBalancerKey(key) && key !== GROUP_KEY),
      signal,
    )
  }

  /** Configures the group membership. If an announcer refuses its settings, it keeps the old ones. */
  async applyGroup(signal: AbortSignal): Promise<void> {
    const { group, statuses, wanted } = this.#options
    const held = wanted.get(GROUP_KEY)
    if (held !== undefined && (held.entry.kind !== 'group' || unreadable(held.entry) !== null))
      return statuses.fail(GROUP_KEY, {
        reason: 'UnsupportedVersion',
        message: unreadable(held.entry) ?? 'it is not a group entry',
      })
    const entry = held?.entry.kind === 'group' ? held.entry : null
    // Without a group entry, there is nothing to do if there was none before.
    if (entry === null && statuses.get(GROUP_KEY) === undefined) return
    try {
      await group.follow(entry, signal)
    } catch (error) {
      return statuses.fail(GROUP_KEY, failureOf('GroupRefused', error))
    }
    if (held === undefined) return this.#forget(GROUP_KEY)
    statuses.confirm(GROUP_KEY, held, NONE)
    statuses.done(GROUP_KEY)
  }

  /**
   * Creates and changes domains, without the gateway addresses, which `#announceGateways` adds.
   * @param underWay entries that are applied after them
   */
  async applyDomains(put: readonly Put[], signal: AbortSignal, underWay = NONE): Promise<void> {
    const { domains, statuses, onDomainChanged } = this.#options
    const entries: DomainEntry[] = []
    for (const [key, { entry }] of put) {
      const why = unreadable(entry)
      if (why !== null) statuses.fail(key, { reason: 'UnsupportedVersion', message: why })
      else if (entry.kind === 'domain') entries.push(entry)
    }
    if (entries.length === 0) return
    const failures = await applyToDomains(domains, { put: entries, remove: [] }, signal)
    for (const [key, held] of put) {
      const failure = failures.get(key)
      if (held.entry.kind !== 'domain' || unreadable(held.entry) !== null) continue
      if (failure !== undefined) {
        statuses.fail(key, failure)
        continue
      }
      const before = statuses.get(key)
      statuses.confirm(key, held, NONE)
      if (before === undefined || before.hash !== held.hash) onDomainChanged(held.entry.number, underWay)
    }
  }

  /** Announces gateway addresses that follow a shard, as if they were VIPs. */
  async #announceGateways(put: readonly Put[], signal: AbortSignal): Promise<void> {
    const { statuses } = this.#options
    const requested = put.flatMap(([key, { entry }]) =>
      entry.kind === 'domain' && statuses.get(key)?.entry === entry
        ? [[key, gatewayAnnouncements(entry)] as const]
        : [],
    )
    await this.#announce(new Map(requested), signal)
  }

  async #changeLoadBalancers(put: readonly Put[], gone: readonly string[], signal: AbortSignal): Promise<void> {
    const ready = put.flatMap(([key, held]) => this.#ready(key, held) ?? [])
    const staying = await this.#withdraw(ready, gone, signal)
    await this.#program(
      ready.filter(({ key }) => !staying.has(key)),
      gone.filter((key) => !staying.has(key)),
      signal,
    )
  }

  /**
   * Withdraws the addresses of removed entries before the node takes another part in a group: shards have the same
   * numbers in every group, so it would announce them there.
   */
  async #withdrawGone(gone: readonly string[], signal: AbortSignal): Promise<void> {
    const { announcements } = this.#options
    try {
      await announcements.apply(new Map(gone.map((key) => [key, []])), signal)
    } catch {
      // It is tried again, and reported, before the entries are removed.
    }
  }

  /**
   * Withdraws addresses before anything is removed.
   * @returns keys whose withdrawal failed and that must stay in the data plane for now
   */
  async #withdraw(
    put: readonly WantedEntry[],
    gone: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const { announcements, statuses } = this.#options
    const requested = new Map(put.map(({ key, entry, down }) => [key, announcementsOf(entry, down)]))
    const changes = new Map<string, readonly Announcement[]>(gone.map((key) => [key, []]))
    for (const [key, remaining] of announcements.remaining(requested)) changes.set(key, remaining)
    try {
      await announcements.apply(changes, signal)
      return NONE
    } catch (error) {
      const affected = new Set(
        [...changes].filter(([key, wanted]) => announcements.differ(key, wanted)).map(([key]) => key),
      )
      for (const key of affected) statuses.fail(key, failureOf('WithdrawFailed', error))
      return affected
    }
  }

  async #program(ready: readonly WantedEntry[], gone: readonly string[], signal: AbortSignal): Promise<void> {
    const { statuses, wanted } = this.#options
    const failures = await applyEntries(this.#options, { put: ready, remove: gone }, signal)
    for (const key of gone) {
      const failure = failures.get(key)
      if (failure === undefined) this.#forget(key)
      else statuses.fail(key, failure)
    }
    const requested = new Map<string, readonly Announcement[]>()
    for (const { key, hash, entry, down, shares } of ready) {
      if (failures.has(key)) continue
      requested.set(key, markTakeovers(announcementsOf(entry, down), statuses.get(key)?.entry))
      statuses.confirm(key, { hash, entry }, down, shares)
    }
    for (const [key, failure] of failures) if (wanted.get(key) !== undefined) statuses.fail(key, failure)
    await this.#announce(requested, signal)
  }

  /** Announces the addresses of confirmed entries, which completes these entries. */
  async #announce(requested: ReadonlyMap<string, readonly Announcement[]>, signal: AbortSignal): Promise<void> {
    const { announcements, statuses, state } = this.#options
    // The next process must know the owner of an address that this one bound, even if this one is killed.
    if ([...requested].some(([key, wanted]) => announcements.differ(key, wanted))) await state.handedOver()
    let refused: ReadonlyMap<string, string>
    try {
      refused = await announcements.apply(requested, signal)
    } catch (error) {
      const { message } = failureOf('AnnounceFailed', error)
      refused = new Map(Array.from(requested.keys(), (key) => [key, message]))
    }
    for (const key of requested.keys()) if (!refused.has(key)) statuses.done(key)
    for (const [key, message] of refused) statuses.fail(key, { reason: 'AnnounceFailed', message })
  }

  async #removeDomains(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const { announcements, domains, statuses } = this.#options
    const empty: string[] = []
    for (const key of keys) {
      const number = domainOfKey(key)
      if (number === null) {
        // This agent does not know the kind of this entry, so it has nothing to remove.
        this.#forget(key)
        continue
      }
      const users = statuses.countIn(number)
      if (users === 0) empty.push(key)
      else statuses.fail(key, { reason: 'DomainInUse', message: `${users} load balancers are still in it` })
    }
    if (empty.length === 0) return
    await announcements.apply(new Map(empty.map((key) => [key, []])), signal)
    const failures = await applyToDomains(domains, { put: [], remove: empty }, signal)
    for (const key of empty) {
      const failure = failures.get(key)
      if (failure === undefined) this.#forget(key)
      else statuses.fail(key, failure)
    }
  }

  /** Completes a load balancer for the drivers. If that is impossible, records the failure and returns null. */
  #ready(key: string, held: Held): WantedEntry | null {
    const { entry } = held
    if (entry.kind !== 'load-balancer') return null
    const { statuses } = this.#options
    const why = unreadable(entry)
    const ready = why === null ? this.#withDomain(key, held) : null
    if (ready !== null) return this.#prepared.take(ready)
    const cause = statuses.failure(domainKey(entry.domain))?.message
    const message = `domain ${entry.domain} does not exist on this node${cause === undefined ? '' : `: ${cause}`}`
    const missing = { reason: 'DomainUnavailable', message }
    statuses.fail(key, why === null ? missing : { reason: 'UnsupportedVersion', message: why })
    return null
  }

  /** Joins a load balancer with its domain; null if the domain does not exist on this node. */
  #withDomain(key: string, { hash, entry }: Held): WantedEntry | null {
    if (entry.kind !== 'load-balancer') return null
    const { statuses, slowStarts } = this.#options
    const domain = statuses.get(domainKey(entry.domain))?.entry
    if (domain?.kind !== 'domain') return null
    const applied = statuses.get(key)?.entry
    const down = this.#down.get(key) ?? NONE
    const shares = slowStarts.shares(entry, down, applied?.kind === 'load-balancer' ? applied : undefined)
    return { key, hash, domain, entry, down, shares }
  }

  #forget(key: string): void {
    this.#prepared.forget(key)
    this.#down.delete(key)
    this.#options.slowStarts.forget(key)
    this.#options.statuses.forget(key)
  }
}
