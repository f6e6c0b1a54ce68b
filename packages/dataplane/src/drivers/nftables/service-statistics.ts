import type { ServiceStats } from '@spout/model/node-report'
import type { NativeHelper, NftCount, NftTableRef } from '@spout/sys'
import type { Rendered, TableKind } from './rendered.ts'
import { SETS } from './sets.ts'
import { SPOUT_TABLE, TUNNEL_TABLE } from './skeleton-text.ts'

/**
 * Listeners that are read at once. Each kind of counter then takes the helper half a millisecond, which may delay a
 * change.
 */
const LISTENERS_AT_ONCE = 128
/** Reading takes about 5 us per listener, VIP and counter. At most this part of the time is spent on it. */
const SHARE_OF_TIME = 0.005
/** What takes longer for each counter was waiting: for the helper, or for a processor. */
const MOST_MS_OF_ONE = 0.02

interface Totals {
  readonly opened: number
  readonly bytesIn: number
  readonly bytesOut: number
}

type Sums = Map<string, { -readonly [Field in keyof Totals]: number }>

/** One listener: its last counters, the sum from before they restarted, and the last result. */
interface Seen {
  readonly last: Totals
  readonly base: Totals
  readonly told: ServiceStats
}

const OPENED = { set: 'opened', read: ({ packets }: NftCount) => packets, field: 'opened' } as const
const RECEIVED = { set: 'received', read: ({ bytes }: NftCount) => bytes, field: 'bytesIn' } as const
const SENT = { set: 'sent', read: ({ bytes }: NftCount) => bytes, field: 'bytesOut' } as const

/** The counters in each table. Responses that do not pass through the node are not counted. */
const TABLES = [
  { kind: 'translating', family: 'inet', table: SPOUT_TABLE, counters: [OPENED, RECEIVED, SENT] },
  { kind: 'forwarding', family: 'netdev', table: SPOUT_TABLE, counters: [OPENED, RECEIVED] },
  { kind: 'tunnelling', family: 'netdev', table: TUNNEL_TABLE, counters: [OPENED, RECEIVED] },
] as const satisfies readonly {
  readonly kind: TableKind
  readonly family: string
  readonly table: string
  readonly counters: readonly unknown[]
}[]

/**
 * Counters of balanced listeners, read element by element and never as a listing. A counter restarts at zero with its
 * element (a table that is loaded again, an exchanged VIP), but the results never decrease.
 */
export class ServiceStatistics {
  readonly #helper: NativeHelper
  readonly #now: () => number
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
    const seen = new Map<string, Seen>()
    for (const [netns, entries] of domains)
      for (const part of partsOf(entries)) {
        const totals = await this.#totals(netns, part)
        for (const { loadBalancerId, services } of part)
          for (const { listenerId } of services)
            seen.set(listenerId, this.#rising(loadBalancerId, listenerId, totals.get(listenerId) ?? ZERO))
      }
    this.#seen = seen
    this.#told = Array.from(seen.values(), ({ told }) => told)
    const endMs = this.#now()
    const costMs = Math.min(endMs - startMs, this.#counters * MOST_MS_OF_ONE)
    this.#notBeforeMs = endMs + costMs / SHARE_OF_TIME
    return this.#told
  }

  async #totals(netns: string, entries: readonly Rendered[]): Promise<ReadonlyMap<string, Totals>> {
    const totals: Sums = new Map()
    for (const { kind, family, table: name, counters } of TABLES) {
      const counted = entries.filter(({ table }) => table === kind)
      for (const version of [4, 6] as const)
        await this.#addUp(totals, { netns, family, table: name }, counters, version, counted)
    }
    return totals
  }

  async #addUp(
    totals: Sums,
    table: NftTableRef,
    counters: (typeof TABLES)[number]['counters'],
    version: 4 | 6,
    entries: readonly Rendered[],
  ): Promise<void> {
    const { keyBytes } = SETS[`opened${version}`]
    const listeners: string[] = []
    const keys: Buffer[] = []
    for (const { services, records } of entries) {
      const bytes = records.get(`opened${version}`)
      if (bytes === undefined) continue
      keys.push(bytes)
      // Records are in the order of services, each with as many VIPs of the family.
      const each = Math.floor(bytes.length / keyBytes / services.length)
      for (const { listenerId } of services) listeners.push(...Array<string>(each).fill(listenerId))
    }
    if (keys.length === 0) return
    const packed = Buffer.concat(keys)
    for (const { set, read, field } of counters) {
      const counts = await this.#helper.nftCounters({ ...table, set: `${set}${version}`, keyBytes, keys: packed })
      this.#counters += counts.length
      for (let index = 0; index < counts.length; index++) {
        const total = totals.get(listeners[index]!) ?? { ...ZERO }
        total[field] += read(counts[index]!)
        totals.set(listeners[index]!, total)
      }
    }
  }

  #rising(loadBalancerId: string, listenerId: string, now: Totals): Seen {
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

/** Splits entries into parts with at most the maximum of listeners, but at least one entry. */
function* partsOf(entries: readonly Rendered[]): Generator<readonly Rendered[]> {
  let part: Rendered[] = []
  let listeners = 0
  for (const entry of entries) {
    part.push(entry)
    listeners += entry.services.length
    if (listeners < LISTENERS_AT_ONCE) continue
    yield part
    part = []
    listeners = 0
  }
  if (part.length > 0) yield part
}

const ZERO: Totals = { opened: 0, bytesIn: 0, bytesOut: 0 }

const sum = (a: Totals, b: Totals): Totals => ({
  opened: a.opened + b.opened,
  bytesIn: a.bytesIn + b.bytesIn,
  bytesOut: a.bytesOut + b.bytesOut,
})

const isSame = (a: Totals, b: Totals): boolean =>
  a.opened === b.opened && a.bytesIn === b.bytesIn && a.bytesOut === b.bytesOut
