import type { LoadBalancerHealth, LoadBalancerRow } from '@spout/model'
import type { Sort, TableSearch } from './table-search.ts'

/** Worst first. */
const BY_NEED: readonly LoadBalancerHealth[] = ['failed', 'degraded', 'pending', 'ok', 'off']

export interface ShownRows {
  readonly rows: readonly LoadBalancerRow[]
  /** How many there are of each health, whatever health is asked for. */
  readonly counts: Readonly<Record<LoadBalancerHealth, number>>
}

/**
 * The rows that a search asks for, in its order. Rows that are alike stay in the order of their names, so that a table
 * that changes does not jump.
 * @param all by name
 */
export function shownRows(all: readonly LoadBalancerRow[], search: TableSearch): ShownRows {
  const matching = all.filter(matches(search))
  const counts: Record<LoadBalancerHealth, number> = { ok: 0, degraded: 0, failed: 0, pending: 0, off: 0 }
  for (const { health } of matching) counts[health]++
  const rows = search.health === undefined ? matching : matching.filter(({ health }) => health === search.health)
  return { rows: inOrder(rows, search), counts }
}

function matches({ text = '', owner }: TableSearch): (row: LoadBalancerRow) => boolean {
  const wanted = text.trim().toLowerCase()
  return (row) =>
    (owner === undefined || (row.owner?.kind ?? 'api') === owner) &&
    (wanted === '' ||
      row.name.toLowerCase().includes(wanted) ||
      row.vips.some((vip) => vip.includes(wanted)) ||
      row.id.startsWith(wanted) ||
      (row.owner?.name?.toLowerCase().includes(wanted) ?? false) ||
      (row.owner?.cluster?.toLowerCase().includes(wanted) ?? false))
}

type Order = (a: LoadBalancerRow, b: LoadBalancerRow) => number

const ORDERS: Readonly<Record<Exclude<Sort, 'name'>, Order>> = {
  health: (a, b) => BY_NEED.indexOf(a.health) - BY_NEED.indexOf(b.health),
  members: (a, b) => a.members.serving - b.members.serving || a.members.total - b.members.total,
  connections: (a, b) => (a.connectionsPerSecond ?? -1) - (b.connectionsPerSecond ?? -1),
  bytes: (a, b) => (a.bytesPerSecond ?? -1) - (b.bytesPerSecond ?? -1),
  created: (a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0),
}

function inOrder(rows: readonly LoadBalancerRow[], { sort = 'health', down = false }: TableSearch) {
  if (sort === 'name') return down ? rows.toReversed() : rows
  const order = ORDERS[sort]
  return rows.toSorted((a, b) => (down ? order(b, a) : order(a, b)))
}
