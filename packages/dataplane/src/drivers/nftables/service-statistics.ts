import type { ServiceStats } from '@spout/model/node-report'
import type { NativeHelper } from '@spout/sys'
import { type CountedListener, type CountedPart, countedParts, type Totals } from './counter-requests.ts'
import type { Rendered } from './rendered.ts'

/** Reading takes about 5 us per listener, VIP and counter. At most this part of the time is spent on it. */
const SHARE_OF_TIME = 0.003
/** What takes longer for each counter was waiting: for the helper, or for a processor. */
const MOST_MS_OF_ONE = 0.02

/** One listener: its last counters, the sum from before they restarted, and the last result. */
interface Seen {
  readonly last: Totals
  readonly base: Totals
  readonly told: ServiceStats
}

/** The entries of a domain, with what must be asked while they stay. */
interface CountedDomain {
  readonly entries: readonly Rendered[]
  readonly parts: readonly CountedPart[]
}

/**
 * Counters of balanced listeners, read element by element and never as a listing. A counter restarts at zero with its
 * element (a table that is loaded again, an exchanged VIP), but the results never decrease.
 */
export class ServiceStatistics {
  readonly #helper: NativeHelper
  readonly #now: () => number
  /** By the path of the domain's namespace. */
  #domains: ReadonlyMap<string, CountedDomain> = new Map()
  /** By listener id. */
  #seen: ReadonlyMap<string, Seen> = new Map()
  #told: readonly ServiceStats[] = []
  #notBeforeMs = 0
  /** How many counters the current reading has read. */
  #counters = 0
  #reading: Promise<readonly ServiceStats[]> | null = null

  constructor(options: { readonly helper: NativeHelper; readonly now?: () => number }) {
    this.#helper = options.helper
    this.#now = options.now ?? (() => performance.now())
  }

  /** @param domains the entries of each domain, by the path of its namespace */
  async read(domains: ReadonlyMap<string, readonly Rendered[]>): Promise<readonly ServiceStats[]> {
    if (this.#reading === null && this.#now() < this.#notBeforeMs) return this.#told
    this.#reading ??= this.#readAll(domains).finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  /** Reads in parts, so that neither the helper nor this process is busy for longer than a change may wait. */
  async #readAll(domains: ReadonlyMap<string, readonly Rendered[]>): Promise<readonly ServiceStats[]> {
    const startMs = this.#now()
    this.#counters = 0
    this.#domains = new Map(Array.from(domains, ([netns, entries]) => [netns, this.#counted(netns, entries)]))
    const seen = new Map<string, Seen>()
    for (const { parts } of this.#domains.values())
      for (const part of parts) {
        const totals = await this.#totals(part)
        part.listeners.forEach((listener, place) => {
          seen.set(listener.listenerId, this.#rising(listener, totals[place]!))
        })
      }
    this.#seen = seen
    this.#told = Array.from(seen.values(), ({ told }) => told)
    const endMs = this.#now()
    const costMs = Math.min(endMs - startMs, this.#counters * MOST_MS_OF_ONE)
    this.#notBeforeMs = endMs + costMs / SHARE_OF_TIME
    return this.#told
  }

  #counted(netns: string, entries: readonly Rendered[]): CountedDomain {
    const known = this.#domains.get(netns)
    if (known !== undefined && areSame(known.entries, entries)) return known
    return { entries, parts: countedParts(netns, entries) }
  }

  async #totals({ listeners, requests }: CountedPart): Promise<readonly Totals[]> {
    const totals = Array.from(listeners, () => ({ ...ZERO }))
    for (const { request, places, field, read } of requests) {
      const counts = await this.#helper.nftCounters(request)
      this.#counters += counts.length
      counts.forEach((count, index) => {
        totals[places[index]!]![field] += read(count)
      })
    }
    return totals
  }

  #rising({ loadBalancerId, listenerId }: CountedListener, now: Totals): Seen {
    const known = this.#seen.get(listenerId)
    if (known !== undefined && isSame(known.last, now)) return known
    const { last, base } = known ?? { last: ZERO, base: ZERO }
    const restarted = now.opened < last.opened || now.bytesIn < last.bytesIn || now.bytesOut < last.bytesOut
    const from = restarted ? sum(base, last) : base
    const { opened, bytesIn, bytesOut } = sum(from, now)
    const counted = { bytesIn, bytesOut, activeConnections: 0, totalConnections: opened, requestErrors: 0 }
    return { last: now, base: from, told: { loadBalancerId, listenerId, ...counted } }
  }
}

const ZERO: Totals = { opened: 0, bytesIn: 0, bytesOut: 0 }

const sum = (a: Totals, b: Totals): Totals => ({
  opened: a.opened + b.opened,
  bytesIn: a.bytesIn + b.bytesIn,
  bytesOut: a.bytesOut + b.bytesOut,
})

const isSame = (a: Totals, b: Totals): boolean =>
  a.opened === b.opened && a.bytesIn === b.bytesIn && a.bytesOut === b.bytesOut

const areSame = (some: readonly Rendered[], others: readonly Rendered[]): boolean =>
  some.length === others.length && some.every((entry, at) => entry === others[at])
