import {
  NOTHING_PLACED,
  type PlacedEntry,
  type ProxyContent,
  type ProxySlots,
  placeEntry,
  releaseSlots,
} from '../rendering/content.ts'
import { answersMetrics, type RenderedEntry, tellsRequests } from '../rendering/render.ts'
import type { WatchedPool } from '../rendering/render-backend.ts'
import type { HaproxyOptions } from '../sections/options.ts'
import { initialSlots, slotsRevision, slotTables } from './proxy-slots.ts'
import type { SavedState } from './state-file.ts'

/** The change of an entry, before it is committed. */
export interface Move {
  readonly key: string
  readonly before: RenderedEntry | undefined
  readonly after: RenderedEntry | undefined
  readonly placedBefore: PlacedEntry
  readonly placedAfter: PlacedEntry
}

interface Held {
  readonly rendered: RenderedEntry
  readonly placed: PlacedEntry
}

type SavedSlots = Pick<SavedState, 'frontends' | 'backends'>

/** The entries of a proxy and their slots. Knows nothing of processes. */
export class SlotAssignments {
  readonly #options: HaproxyOptions
  readonly #held: Map<string, Held>
  /** The slots of the last process that started, to return to if the next one does not start. */
  #confirmed: SavedSlots
  #slots: ProxySlots

  constructor(options: HaproxyOptions, saved: SavedSlots = initialSlots()) {
    this.#options = options
    this.#held = new Map()
    this.#confirmed = saved
    this.#slots = slotTables(saved, options)
  }

  get slots(): ProxySlots {
    return this.#slots
  }

  /** Increases when the running process lacks an assigned slot. */
  get revision(): number {
    return slotsRevision(this.#slots)
  }

  get keys(): readonly string[] {
    return [...this.#held.keys()]
  }

  get rendered(): readonly RenderedEntry[] {
    return [...this.#held.values()].map(({ rendered }) => rendered)
  }

  get placed(): readonly PlacedEntry[] {
    return [...this.#held.values()].map(({ placed }) => placed)
  }

  /** Services and their frontend slots. */
  get owners(): readonly (readonly [service: string, slot: number])[] {
    return this.#slots.frontends.slots.flatMap(({ owner, id }) => (owner === null ? [] : [[owner, id] as const]))
  }

  get hasWatched(): boolean {
    return this.#held.values().some(({ rendered }) => rendered.backends.some(({ watched }) => watched !== undefined))
  }

  /** Backends of watched pools, in their slots. */
  get watched(): readonly { readonly key: string; readonly slot: number; readonly pool: WatchedPool }[] {
    return [...this.#held].flatMap(([key, { rendered, placed }]) =>
      rendered.backends.flatMap(({ watched: pool }, index) => {
        const slot = placed.backends[index]?.slot
        return pool === undefined || slot === undefined ? [] : [{ key, slot, pool }]
      }),
    )
  }

  /** The backends of an entry, in their slots. */
  backendsOf(key: string): readonly { readonly owner: string; readonly slot: number }[] {
    const held = this.#held.get(key)
    return (held?.rendered.backends ?? []).flatMap(({ owner }, index) => {
      const slot = held?.placed.backends[index]?.slot
      return slot === undefined ? [] : [{ owner, slot }]
    })
  }

  /** Whether a listener answers with figures. */
  get hasMetrics(): boolean {
    return this.#held.values().some(({ rendered }) => answersMetrics(rendered))
  }

  /** Whether requests of a listener are logged. */
  get hasLines(): boolean {
    return this.#held.values().some(({ rendered }) => tellsRequests(rendered))
  }

  has(key: string): boolean {
    return this.#held.has(key)
  }

  placedOf(key: string): PlacedEntry {
    return this.#held.get(key)?.placed ?? NOTHING_PLACED
  }

  frontendOf(service: string): number | undefined {
    return this.#slots.frontends.ownedBy(service)?.id
  }

  /** Assigns the slots that an entry needs in addition. @throws SlotsExhausted; no slot is assigned then */
  moveTo(key: string, after: RenderedEntry | undefined): Move {
    const held = this.#held.get(key)
    const before = held?.rendered
    try {
      const placedAfter = after === undefined ? NOTHING_PLACED : placeEntry(after, this.#slots)
      return { key, before, after, placedBefore: held?.placed ?? NOTHING_PLACED, placedAfter }
    } catch (error) {
      releaseSlots(after, before, this.#slots)
      throw error
    }
  }

  /** Commits the change. Slots that the entry no longer needs cool. */
  commit({ key, before, after, placedAfter }: Move): void {
    releaseSlots(before, after, this.#slots)
    if (after === undefined) this.#held.delete(key)
    else this.#held.set(key, { rendered: after, placed: placedAfter })
  }

  /** Discards the change. */
  abandon({ before, after }: Move): void {
    releaseSlots(after, before, this.#slots)
  }

  /** Saves the slots as those of the running process. */
  confirm(): SavedSlots {
    this.#confirmed = { frontends: this.#slots.frontends.slots, backends: this.#slots.backends.slots }
    return this.#confirmed
  }

  /** Commits changes. The returned function reverts that, including slots. */
  commitAll(moves: readonly Move[]): () => void {
    const held = new Map(this.#held)
    for (const move of moves) this.commit(move)
    return () => {
      this.#held.clear()
      for (const [key, entry] of held) this.#held.set(key, entry)
      this.#slots = slotTables(this.#confirmed, this.#options)
    }
  }

  /** Releases slots whose owners belong to no entry. */
  releaseUnheld(): void {
    const services = new Set(this.rendered.flatMap(({ frontends }) => frontends.map(({ service }) => service)))
    const owners = new Set(this.rendered.flatMap(({ backends }) => backends.map(({ owner }) => owner)))
    const { frontends, backends } = this.#slots
    for (const { owner } of frontends.slots) if (owner !== null && !services.has(owner)) frontends.release(owner)
    for (const { owner } of backends.slots) if (owner !== null && !owners.has(owner)) backends.release(owner)
  }

  /** Content of a process that belongs to no entry. */
  unheld({ frontends, rows, backends, tls }: ProxyContent): PlacedEntry {
    const frontendsHeld = new Set(this.placed.flatMap((placed) => placed.frontends.map(({ slot }) => slot)))
    const backendsHeld = new Set(this.placed.flatMap((placed) => placed.backends.map(({ slot }) => slot)))
    return {
      frontends: [
        ...new Set([
          ...frontends.keys(),
          ...rows.keys(),
          ...tls.listed.keys(),
          ...tls.fallbacks.keys(),
          ...tls.clients.keys(),
          ...tls.revocations.keys(),
        ]),
      ]
        .map((slot) => ({ slot, values: {} }))
        .filter(({ slot }) => !frontendsHeld.has(slot)),
      backends: [...backends.keys()]
        .map((slot) => ({ slot, servers: [] }))
        .filter(({ slot }) => !backendsHeld.has(slot)),
    }
  }
}

/** Whether slots change owners. */
export const changesOwners = ({ before, after }: Move): boolean => {
  const [had, have] = [ownersIn(before), ownersIn(after)]
  return had.length !== have.length || had.some((owner, at) => owner !== have[at])
}

/** Whether a listener gets another of the files whose content ids cannot be read back from the process. */
export const changesUnreadable = ({ before, after }: Move): boolean => unreadableIn(before) !== unreadableIn(after)

const unreadableIn = (entry: RenderedEntry | undefined): string =>
  entry?.frontends
    .flatMap(({ service, certificates }) =>
      certificates ? [service, certificates.fallback, certificates.authorities, certificates.revocations] : [],
    )
    .join() ?? ''

const ownersIn = (entry: RenderedEntry | undefined): readonly string[] => [
  ...(entry?.frontends.map(({ service }) => service) ?? []),
  ...(entry?.backends.map(({ owner }) => owner) ?? []),
]
