import type { LoadBalancerRow } from '@spout/model'
import { withMore } from '../api/rows-by-name.ts'

/**
 * Rows by name with what has changed. Unchanged rows stay the same objects, and no name is compared but those that are
 * new.
 * @param rows by name
 * @param changed by id; null for one that is gone
 * @param projectId that the table shows; null: all
 */
export function patchedRows(
  rows: readonly LoadBalancerRow[],
  changed: ReadonlyMap<string, LoadBalancerRow | null>,
  projectId: string | null,
): readonly LoadBalancerRow[] {
  const left = new Map(changed)
  const kept: LoadBalancerRow[] = []
  for (const row of rows) {
    const next = left.get(row.id)
    if (next === undefined) kept.push(row)
    else if (next === null || next.name === row.name) {
      left.delete(row.id)
      if (next !== null) kept.push(next)
    }
  }
  const placed = [...left.values()].filter((row) => row !== null && (projectId === null || row.projectId === projectId))
  return withMore(kept, placed as readonly LoadBalancerRow[])
}
