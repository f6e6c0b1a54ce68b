import type { NodeReport } from '@spout/model/node-report'
import type { GroupEntry } from '@spout/model/node-state'

/** The part of a node's report that comes from followers of its group. */
export type GroupReport = Pick<
  NodeReport,
  'shards' | 'bgpSessions' | 'addressConflicts' | 'sights' | 'departure' | 'flows'
>

/** A part of the node that the entry `group` configures. Each follower reads its own fields of the entry. */
export interface GroupFollower {
  /**
   * Applies the group's settings; null ends the membership. Changes nothing when nothing differs.
   * @throws Error if settings are refused; the old ones stay in force
   */
  follow(entry: GroupEntry | null, signal: AbortSignal): Promise<void>
  /** Its current state. Default: nothing until something changes. */
  report?(): Promise<GroupReport>
  /** Calls back with what changed. @returns a function that unsubscribes */
  onReport?(listener: (report: GroupReport) => void): () => void
  /** Releases our handles. What runs without an agent continues. */
  close(): Promise<void>
}
