import type { PendingCommit } from '../batch-plan.ts'
import type { LeaseRow } from './entry.ts'

/** A lease that gets another holder, or none. */
export interface PendingHand {
  /** As the one who asks knows it; null: nobody ever had it. */
  readonly from: LeaseRow | null
  readonly to: LeaseRow
}

/** Changes up to a sequence that are to be forgotten. */
export interface PendingFloor {
  readonly floor: number
}

/** What waits to become part of the log. */
export type Pending = PendingCommit | PendingHand | PendingFloor

/** What one entry of the log is made of. */
export type Run = readonly PendingCommit[] | PendingHand | PendingFloor

export const isCommits = (run: Run): run is readonly PendingCommit[] => Array.isArray(run)

/** Commits share an entry up to this length of their values. A longer one has its own. */
const MOST_TEXT = 256 * 1024

const lengthOf = ({ writes }: PendingCommit): number => writes.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)

/** Divides a batch into entries, in order. A commit is never divided. */
export function runsOf(batch: readonly Pending[]): readonly Run[] {
  const runs: (PendingCommit[] | PendingHand | PendingFloor)[] = []
  let length = 0
  for (const pending of batch) {
    if (!('writes' in pending)) {
      runs.push(pending)
      continue
    }
    const last = runs.at(-1)
    const own = lengthOf(pending)
    if (Array.isArray(last) && length + own <= MOST_TEXT) {
      last.push(pending)
      length += own
    } else {
      runs.push([pending])
      length = own
    }
  }
  return runs
}
