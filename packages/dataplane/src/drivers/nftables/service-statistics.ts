import type { ServiceStats } from '@spout/model/node-report'
import type { NativeHelper, NftCount, NftTableRef } from '@spout/sys'
import type { Rendered, TableKind } from './rendered.ts'
import { SETS } from './sets.ts'
import { SPOUT_TABLE, TUNNEL_TABLE } from './skeleton-text.ts'

/** Keys in one request: about 1 ms of the helper, for which a change may have to wait. */
const KEYS_PER_REQUEST = 256
/** Reading costs some 5 us per listener, VIP and counter: at most this part of the time is spent on it. */
const SHARE_OF_TIME = 0.02

interface Totals {
  readonly opened: number
  readonly bytesIn: number
  readonly bytesOut: number
}

type Sums = Map<string, { -readonly [Field in keyof Totals]: number }>

const OPENED = { set: 'opened', read: ({ packets }: NftCount) => packets, field: 'opened' } as const
const RECEIVED = { set: 'received', read: ({ bytes }: NftCount) => bytes, field: 'bytesIn' } as const
const SENT = { set: 'sent', read: ({ bytes }: NftCount) => bytes, field: 'bytesOut' } as const

/** What is counted in which table. Answers that do not come back through the node are not counted there. */
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
 * Counters of balanced listeners, read element by element: never a listing. A counter starts at zero again when its
 * element does (a table loaded anew, a VIP exchanged); what is told never falls.
 */
export class ServiceStatistics {
  readonly #helper: NativeHelper
  readonly #now: () => number
  /** By listener id. */
  readonly #seen = new Map<string, { readonly last: Totals; readonly base: Totals }>()
  #told: readonly ServiceStats[] = []
  #notBeforeMs = 0
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

  async #readAll(domains: ReadonlyMap<string, readonly Rendered[]>): Promise<readonly ServiceStats[]> {
    const startMs = this.#now()
    const stats: ServiceStats[] = []
    for (const [netns, entries] of domains) {
      const totals = await this.#totals(netns, entries)
      for (const { loadBalancerId, services } of entries)
        for (const { listenerId } of services) {
          const { opened, bytesIn, bytesOut } = this.#rising(listenerId, totals.get(listenerId) ?? ZERO)
          stats.push({
            loadBalancerId,
            listenerId,
            bytesIn,
            bytesOut,
            activeConnections: 0,
            totalConnections: opened,
            requestErrors: 0,
          })
        }
    }
    this.#forgetAllBut(stats)
    this.#told = stats
    const endMs = this.#now()
    this.#notBeforeMs = endMs + (endMs - startMs) / SHARE_OF_TIME
    return stats
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
      // Records stand in the order of services, each with as many VIPs of the family.
      const each = Math.floor(bytes.length / keyBytes / services.length)
      for (const { listenerId } of services) listeners.push(...Array<string>(each).fill(listenerId))
    }
    const packed = Buffer.concat(keys)
    for (const { set, read, field } of counters)
      for (const [index, count] of (await this.#counts(table, `${set}${version}`, keyBytes, packed)).entries()) {
        const total = totals.get(listeners[index]!) ?? { ...ZERO }
        total[field] += read(count)
        totals.set(listeners[index]!, total)
      }
  }

  async #counts(table: NftTableRef, set: string, keyBytes: number, keys: Buffer): Promise<readonly NftCount[]> {
    const counts: NftCount[] = []
    const step = KEYS_PER_REQUEST * keyBytes
    for (let at = 0; at < keys.length; at += step)
      counts.push(...(await this.#helper.nftCounters({ ...table, set, keyBytes, keys: keys.subarray(at, at + step) })))
    return counts
  }

  #rising(listenerId: string, now: Totals): Totals {
    const { last, base } = this.#seen.get(listenerId) ?? { last: ZERO, base: ZERO }
    const restarted = now.opened < last.opened || now.bytesIn < last.bytesIn || now.bytesOut < last.bytesOut
    const from = restarted ? sum(base, last) : base
    this.#seen.set(listenerId, { last: now, base: from })
    return sum(from, now)
  }

  #forgetAllBut(stats: readonly ServiceStats[]): void {
    const there = new Set(stats.map(({ listenerId }) => listenerId))
    for (const listenerId of this.#seen.keys()) if (!there.has(listenerId)) this.#seen.delete(listenerId)
  }
}

const ZERO: Totals = { opened: 0, bytesIn: 0, bytesOut: 0 }

const sum = (a: Totals, b: Totals): Totals => ({
  opened: a.opened + b.opened,
  bytesIn: a.bytesIn + b.bytesIn,
  bytesOut: a.bytesOut + b.bytesOut,
})
