import type { Run } from './pool-runs.ts'

/** How many colours there are. */
const COLOURS = 5

/** A colour, from 1, for each of the projects that have most of a pool. The others share none. */
export function projectColours(runs: readonly Run[]): ReadonlyMap<string, number> {
  const counts = new Map<string, bigint>()
  for (const { state, projectId, count } of runs)
    if (state === 'taken' || state === 'resting')
      counts.set(projectId ?? '', (counts.get(projectId ?? '') ?? 0n) + count)
  const largest = [...counts].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, COLOURS)
  return new Map(largest.map(([projectId], at) => [projectId, at + 1]))
}
