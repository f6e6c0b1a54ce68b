import type { LoadBalancerRow } from '@spout/model'

/**
 * Rows with changes in their place, and new ones at the end. Unchanged rows stay the same objects.
 * @param changed by id; null for one that is gone
 * @param projectId that the table shows; null: all
 */
export function patchedRows(
  rows: readonly LoadBalancerRow[],
  changed: ReadonlyMap<string, LoadBalancerRow | null>,
  projectId: string | null,
): readonly LoadBalancerRow[] {
  const left = new Map(changed)
  const kept = rows.flatMap((row) => {
    const next = left.get(row.id)
    left.delete(row.id)
    return next === undefined ? [row] : next === null ? [] : [next]
  })
  const added = [...left.values()].filter((row) => row !== null && (projectId === null || row.projectId === projectId))
  return [...kept, ...(added as readonly LoadBalancerRow[])]
}
