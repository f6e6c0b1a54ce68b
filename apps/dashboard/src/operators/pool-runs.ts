import type { PoolUsagePart } from '@spout/model'
import { parseIp } from '@spout/net'

export type AddressState = PoolUsagePart['state']

/** Neighbouring addresses of a pool with the same state, project and use. */
export interface Run {
  readonly state: AddressState
  readonly first: string
  readonly last: string
  readonly count: bigint
  /** Null for addresses that nobody has, and for Spout's own. */
  readonly projectId: string | null
  /** Null for addresses that nobody has. */
  readonly use: NonNullable<PoolUsagePart['by']>['use'] | null
  /** The load balancers that have them, in order; none for addresses that are reserved only. */
  readonly ownerIds: readonly string[]
  /** When the last of them may go to any project again; null unless they rest. */
  readonly until: string | null
}

/** A pool from its first address to its last, as few runs. @param parts as the server tells them, in their order */
export function poolRuns(parts: readonly PoolUsagePart[]): readonly Run[] {
  const runs: Run[] = []
  for (const part of parts) {
    const [before, run] = [runs.at(-1), runOf(part)]
    if (before !== undefined && continues(before, run)) runs[runs.length - 1] = joined(before, run)
    else runs.push(run)
  }
  return runs
}

const runOf = ({ state, first, last, by, restsUntil }: PoolUsagePart): Run => ({
  ...{ state, first, last },
  count: parseIp(last).value - parseIp(first).value + 1n,
  projectId: by?.projectId ?? null,
  use: by?.use ?? null,
  ownerIds: by?.loadBalancerId == null ? [] : [by.loadBalancerId],
  until: restsUntil,
})

const continues = (a: Run, b: Run): boolean =>
  a.state === b.state && a.projectId === b.projectId && a.use === b.use && areNeighbours(a.last, b.first)

/** Two ranges of a pool may have a gap between them. */
function areNeighbours(one: string, next: string): boolean {
  const [a, b] = [parseIp(one), parseIp(next)]
  return a.version === b.version && a.value + 1n === b.value
}

const joined = (a: Run, b: Run): Run => ({
  ...a,
  last: b.last,
  count: a.count + b.count,
  ownerIds: [...new Set([...a.ownerIds, ...b.ownerIds])],
  until: a.until === null || b.until === null ? null : a.until > b.until ? a.until : b.until,
})
