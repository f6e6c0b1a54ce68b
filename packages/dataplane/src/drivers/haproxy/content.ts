import type { RenderedEntry, RenderedServer } from './render.ts'
import type { BackendShape, FrontendShape } from './shape.ts'
import type { SlotTable } from './slot-table.ts'

/** The maps of a process. A frontend looks up its backend and settings under its own name. */
export const MAPS = ['backend'] as const
export type MapName = (typeof MAPS)[number]

/** The map values of a frontend slot. Absent: no value. */
export type FrontendValues = Readonly<Partial<Record<MapName, string>>>

export type ServerState = Pick<RenderedServer, 'weight' | 'ready'>

export interface PlacedFrontend {
  readonly slot: number
  readonly values: FrontendValues
}

export interface PlacedBackend {
  readonly slot: number
  readonly servers: readonly RenderedServer[]
}

/** A rendered entry in slots: what the process holds for it. */
export interface PlacedEntry {
  readonly frontends: readonly PlacedFrontend[]
  readonly backends: readonly PlacedBackend[]
}

export const NOTHING_PLACED: PlacedEntry = { frontends: [], backends: [] }

/** The content of a process at run time: map values by frontend slot, servers by backend slot and name. */
export interface ProxyContent {
  readonly frontends: Map<number, FrontendValues>
  readonly backends: Map<number, Map<string, ServerState>>
}

export const emptyContent = (): ProxyContent => ({ frontends: new Map(), backends: new Map() })

/** The tables from which slots are assigned. */
export interface ProxySlots {
  readonly frontends: SlotTable<FrontendShape>
  readonly backends: SlotTable<BackendShape>
}

export const frontendName = (slot: number): string => `f${slot}`
export const backendName = (slot: number): string => `b${slot}`

/**
 * Assigns slots to an entry. Owners that have one keep it.
 * @throws SlotsExhausted
 */
export function placeEntry(entry: RenderedEntry, slots: ProxySlots): PlacedEntry {
  const backends = entry.backends.map(({ owner, shape, servers }) => ({
    owner,
    slot: slots.backends.take(owner, shape).id,
    servers,
  }))
  const slotOf = new Map(backends.map(({ owner, slot }) => [owner, slot]))
  const frontends = entry.frontends.map(({ service, shape, backend }) => {
    const target = backend === null ? undefined : slotOf.get(backend)
    const values: FrontendValues = target === undefined ? {} : { backend: backendName(target) }
    return { slot: slots.frontends.take(service, shape).id, values }
  })
  return { frontends, backends: backends.map(({ slot, servers }) => ({ slot, servers })) }
}

/** Releases the slots that `before` has and `after` does not need. */
export function releaseSlots(
  before: RenderedEntry | undefined,
  after: RenderedEntry | undefined,
  slots: ProxySlots,
): void {
  const services = new Set(after?.frontends.map(({ service }) => service))
  const owners = new Set(after?.backends.map(({ owner }) => owner))
  for (const { service } of before?.frontends ?? []) if (!services.has(service)) slots.frontends.release(service)
  for (const { owner } of before?.backends ?? []) if (!owners.has(owner)) slots.backends.release(owner)
}

/** The content of a process that was just started with these entries. */
export function contentOf(entries: Iterable<PlacedEntry>): ProxyContent {
  const content = emptyContent()
  for (const { frontends, backends } of entries) {
    for (const { slot, values } of frontends) content.frontends.set(slot, values)
    for (const { slot, servers } of backends)
      content.backends.set(slot, new Map(servers.map(({ name, weight, ready }) => [name, { weight, ready }])))
  }
  return content
}
