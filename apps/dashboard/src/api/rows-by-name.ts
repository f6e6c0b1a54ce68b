import type { LoadBalancerRow } from '@spout/model'

const collator = new Intl.Collator(undefined, { numeric: true })

const compare = (a: LoadBalancerRow, b: LoadBalancerRow): number =>
  collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)

/**
 * Rows by name, as people count. To compare names takes longest of all that the table does, so it is done once, when the
 * rows are read: other orders only change the places of rows that differ.
 */
export const byName = (all: readonly LoadBalancerRow[]): readonly LoadBalancerRow[] => all.toSorted(compare)

/** Rows by name with more of them, each in its place. @param rows by name */
export function withMore(
  rows: readonly LoadBalancerRow[],
  more: readonly LoadBalancerRow[],
): readonly LoadBalancerRow[] {
  const all = [...rows]
  for (const row of more) all.splice(placeOf(row, all), 0, row)
  return all
}

/** Where a row belongs, by halving. */
function placeOf(row: LoadBalancerRow, rows: readonly LoadBalancerRow[]): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    const other = rows[middle]
    if (other !== undefined && compare(other, row) < 0) from = middle + 1
    else to = middle
  }
  return from
}
