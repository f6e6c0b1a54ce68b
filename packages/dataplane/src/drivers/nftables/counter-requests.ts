import type { NftCount, NftCounters } from '@spout/sys'
import type { Rendered, TableKind } from './rendered.ts'
import { SETS } from './sets.ts'
import { SPOUT_TABLE, TUNNEL_TABLE } from './skeleton-text.ts'

export interface Totals {
  readonly opened: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Listeners whose counters are read at once. */
export interface CountedPart {
  readonly listeners: readonly CountedListener[]
  readonly requests: readonly CounterRequest[]
}

export interface CountedListener {
  readonly listenerId: string
  readonly loadBalancerId: string
}

/** One kind of counter of a part's listeners. */
export interface CounterRequest {
  readonly request: NftCounters
  /** For each key, the index of its listener in the part. */
  readonly places: readonly number[]
  readonly field: keyof Totals
  readonly read: (count: NftCount) => number
}

/**
 * Listeners that are read at once. Each kind of counter then takes the helper half a millisecond, which may delay a
 * change.
 */
const LISTENERS_AT_ONCE = 128

const OPENED = { set: 'opened', field: 'opened', read: ({ packets }: NftCount) => packets } as const
const RECEIVED = { set: 'received', field: 'bytesIn', read: ({ bytes }: NftCount) => bytes } as const
const SENT = { set: 'sent', field: 'bytesOut', read: ({ bytes }: NftCount) => bytes } as const

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
 * What must be asked to read the counters of these entries.
 * @param netns path of the namespace of the entries' domain
 */
export const countedParts = (netns: string, entries: readonly Rendered[]): readonly CountedPart[] =>
  Array.from(partsOf(entries), (part) => {
    const places = new Map<string, number>()
    const listeners: CountedListener[] = []
    for (const { loadBalancerId, services } of part)
      for (const { listenerId } of services) {
        if (places.has(listenerId)) continue
        places.set(listenerId, listeners.length)
        listeners.push({ listenerId, loadBalancerId })
      }
    return { listeners, requests: requestsOf(netns, part, places) }
  })

function requestsOf(
  netns: string,
  part: readonly Rendered[],
  placeOf: ReadonlyMap<string, number>,
): readonly CounterRequest[] {
  return TABLES.flatMap(({ kind, family, table, counters }) => {
    const counted = part.filter((entry) => entry.table === kind)
    return ([4, 6] as const).flatMap((version) => {
      const { keyBytes } = SETS[`opened${version}`]
      const places: number[] = []
      const packed: Buffer[] = []
      for (const { services, records } of counted) {
        const bytes = records.get(`opened${version}`)
        if (bytes === undefined) continue
        packed.push(bytes)
        // Records are in the order of services, each with as many VIPs of the family.
        const each = Math.floor(bytes.length / keyBytes / services.length)
        for (const { listenerId } of services) places.push(...Array<number>(each).fill(placeOf.get(listenerId)!))
      }
      if (packed.length === 0) return []
      const keys = Buffer.concat(packed)
      return counters.map(({ set, field, read }) => {
        const request = { netns, family, table, set: `${set}${version}`, keyBytes, keys }
        return { request, places, field, read }
      })
    })
  })
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
