import type { SharedMap } from '@spout/model/shared-map'
import { METRICS_BACKEND } from '../requests/metrics-backend.ts'
import type { RowGroup } from '../routes/route-rows.ts'
import { backendBehind } from '../sections/behind.ts'
import type { RowMap, ValueMap } from '../sections/maps.ts'
import { ROUTED } from '../sections/routed.ts'
import type { BackendShape, FrontendShape } from '../sections/shape.ts'
import type { SlotTable } from '../sections/slot-table.ts'
import type { MemberTls } from './member-tls.ts'
import type { RenderedEntry, RenderedFrontend } from './render.ts'
import type { RenderedServer } from './render-backend.ts'
import { emptyTlsContent, type FrontendCertificates, type TlsContent, tlsContentOf } from './tls-content.ts'

/** The map values of a frontend slot. Absent: no value. */
export type FrontendValues = Readonly<Partial<Record<ValueMap, string>>>

/** The rows of a frontend: groups of them, and the names of the backends that they lead to, by owner. */
export interface PlacedRows {
  readonly groups: SharedMap<RowGroup>
  readonly names: ReadonlyMap<string, string>
}

export interface PlacedRow {
  readonly map: RowMap
  readonly key: string
  readonly value: string
}

export type ServerState = Pick<RenderedServer, 'weight' | 'ready'>

export interface PlacedFrontend {
  readonly slot: number
  readonly values: FrontendValues
  /** Absent: none. */
  readonly rows?: PlacedRows
  readonly certificates?: FrontendCertificates
}

export interface PlacedBackend {
  readonly slot: number
  readonly servers: readonly RenderedServer[]
  /** Absent: the servers are spoken to without TLS. */
  readonly tls?: MemberTls
}

/** A rendered entry in slots: what the process holds for it. */
export interface PlacedEntry {
  readonly frontends: readonly PlacedFrontend[]
  readonly backends: readonly PlacedBackend[]
}

export const NOTHING_PLACED: PlacedEntry = { frontends: [], backends: [] }

/** The content of a process at run time: map values and rows by frontend slot, servers by backend slot and name. */
export interface ProxyContent {
  readonly frontends: Map<number, FrontendValues>
  readonly rows: Map<number, Map<RowMap, Map<string, string>>>
  readonly backends: Map<number, Map<string, ServerState>>
  readonly tls: TlsContent
}

export const emptyContent = (): ProxyContent => ({
  frontends: new Map(),
  rows: new Map(),
  backends: new Map(),
  tls: emptyTlsContent(),
})

/** The tables from which slots are assigned. */
export interface ProxySlots {
  readonly frontends: SlotTable<FrontendShape>
  readonly backends: SlotTable<BackendShape>
}

export const frontendName = (slot: number): string => `f${slot}`
export const backendName = (slot: number): string => `b${slot}`
/** The key of a frontend's row in its map. */
export const rowKey = (slot: number, key: string): string => `${frontendName(slot)}/${key}`

/**
 * Assigns slots to an entry. Owners that have one keep it.
 * @throws SlotsExhausted
 */
export function placeEntry(entry: RenderedEntry, slots: ProxySlots): PlacedEntry {
  const backends = entry.backends.map(({ owner, shape, servers, tls }) => ({
    owner,
    slot: slots.backends.take(owner, shape).id,
    servers,
    ...(tls === undefined ? {} : { tls }),
  }))
  const names = new Map(backends.map(({ owner, slot }) => [owner, backendName(slot)]))
  const taken = new Map(
    entry.frontends.map(({ service, shape }) => [service, slots.frontends.take(service, shape).id] as const),
  )
  const frontends = entry.frontends.map((frontend) => ({
    slot: taken.get(frontend.service)!,
    ...contentIn(frontend, names, taken),
    ...(frontend.certificates === undefined ? {} : { certificates: frontend.certificates }),
  }))
  return { frontends, backends: backends.map(({ owner: _, ...placed }) => placed) }
}

function contentIn(
  { shape, backend, others: behind, routes, hsts: header, metrics, logs: told, hosts }: RenderedFrontend,
  names: PlacedRows['names'],
  taken: ReadonlyMap<string, number>,
): Pick<PlacedFrontend, 'values' | 'rows'> {
  if (metrics !== undefined) return { values: { backend: METRICS_BACKEND, metrics } }
  const slotBehind = behind === undefined ? undefined : taken.get(behind)
  const ownBackend = backend === null ? undefined : names.get(backend)
  const name = slotBehind === undefined ? ownBackend : backendBehind(slotBehind)
  // Requests of a frontend without them skip the rules for both.
  const hasExtras = shape.mode === 'http' && (routes !== undefined || told !== undefined)
  const others = {
    ...(header === undefined ? {} : { hsts: header }),
    ...(told === undefined ? {} : { logs: told }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(hasExtras ? { extras: 'yes' } : {}),
  }
  if (routes === undefined) return { values: { ...(name === undefined ? {} : { backend: name }), ...others } }
  const kind = routes.wildcards > 0 ? ROUTED.wildcards : ROUTED.named
  const values = { backend: kind, ...(name === undefined ? {} : { defaults: name }), ...others }
  return { values, rows: { groups: routes.groups, names } }
}

/** @param other rows whose groups are left out */
export function* rowsIn({ groups, names }: PlacedRows, other?: PlacedRows): Generator<PlacedRow> {
  for (const [, { rows }] of other === undefined ? groups : groups.differing(other.groups))
    for (const { map, key, to } of rows)
      yield { map, key, value: 'text' in to ? to.text : (names.get(to.backend) ?? 'none') }
}

export function rowsByMap(rows: Iterable<PlacedRow>): Map<RowMap, Map<string, string>> {
  const maps = new Map<RowMap, Map<string, string>>()
  for (const { map, key, value } of rows) rowsOf(maps, map).set(key, value)
  return maps
}

/** The rows of a map, which are made if there are none yet. */
export function rowsOf(rows: Map<RowMap, Map<string, string>>, map: RowMap): Map<string, string> {
  const known = rows.get(map) ?? new Map<string, string>()
  rows.set(map, known)
  return known
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
  const all = [...entries]
  const tls = tlsContentOf(
    all.flatMap(({ frontends }) => frontends),
    all.flatMap(({ backends }) => backends),
  )
  const content = { ...emptyContent(), tls }
  for (const { frontends, backends } of all) {
    for (const { slot, values, rows } of frontends) {
      content.frontends.set(slot, values)
      if (rows !== undefined) content.rows.set(slot, rowsByMap(rowsIn(rows)))
    }
    for (const { slot, servers } of backends)
      content.backends.set(slot, new Map(servers.map(({ name, weight, ready }) => [name, { weight, ready }])))
  }
  return content
}
