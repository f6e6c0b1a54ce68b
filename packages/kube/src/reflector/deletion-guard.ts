/** Why objects that a complete list lacks are not taken as deleted. */
export type DeletionGuardReason =
  /** The server's kube-system namespace has another UID: this is another cluster. Nothing of it is taken. */
  | 'other-cluster'
  /** The server's history went back: etcd was restored from a backup. */
  | 'history'
  /** The list is empty. */
  | 'empty'
  /** Implausibly many objects went missing at once. */
  | 'shrunk'

export interface DeletionGuardPolicy {
  /** Below this number of objects, any list is plausible. */
  readonly fromObjects: number
  /** A list that lacks more than this share of the objects is implausible. */
  readonly maxGoneShare: number
  /** `empty` and `shrunk` are taken as deletions once so many lists ... */
  readonly confirmLists: number
  /** ... over this time agree. Infinity: only `confirm` ends the guard. */
  readonly confirmAfterMs: number
}

export const DEFAULT_DELETION_GUARD_POLICY: DeletionGuardPolicy = {
  fromObjects: 3,
  maxGoneShare: 0.5,
  confirmLists: 4,
  confirmAfterMs: 10 * 60_000,
}

/**
 * A deletion guard that is up: objects are missing, and there is a reason not to delete what was made for them. Held
 * objects count as present until their deletion is confirmed, or until they come back.
 */
export interface DeletionGuard {
  readonly reason: DeletionGuardReason
  readonly heldKeys: ReadonlySet<string>
  /** Monotonic time of the first list that lacked them. */
  readonly sinceMs: number
  /** Lists that lacked them up to now. */
  readonly lists: number
}

/** A complete list compared with what was known before. */
export interface ListSight {
  /** Keys known before. */
  readonly known: number
  /** The known objects that the list lacks. */
  readonly gone: ReadonlySet<string>
  readonly historyWentBack: boolean
}

/**
 * Decides whether objects that a complete list lacks are deleted.
 *
 * After a restored backup (`history`) they are never taken as deleted without `confirm`: objects made since the backup
 * are missing from it, but in use. Many missing objects may be a clean-up that happened while we were disconnected;
 * they are taken as deleted when the server keeps saying so.
 *
 * @returns null when they are deleted, else the deletion guard that is up from now on
 */
export function judgeList(
  sight: ListSight,
  before: DeletionGuard | null,
  nowMs: number,
  policy: DeletionGuardPolicy,
): DeletionGuard | null {
  const { known, gone, historyWentBack } = sight
  if (gone.size === 0) return null
  const reason = historyWentBack || before?.reason === 'history' ? 'history' : reasonOf(known, gone.size, policy)
  // The guard stays up until every held object is settled, also when most of them came back.
  const standing = reason ?? before?.reason ?? null
  if (standing === null) return null
  const [sinceMs, lists] = before?.reason === standing ? [before.sinceMs, before.lists + 1] : [nowMs, 1]
  const confirmed = standing !== 'history' && lists >= policy.confirmLists && nowMs - sinceMs >= policy.confirmAfterMs
  return confirmed ? null : { reason: standing, heldKeys: gone, sinceMs, lists }
}

function reasonOf(known: number, gone: number, policy: DeletionGuardPolicy): 'empty' | 'shrunk' | null {
  if (known < policy.fromObjects) return null
  if (gone === known) return 'empty'
  return gone / known > policy.maxGoneShare ? 'shrunk' : null
}

/** How long to wait before the list is read again while the guard is up. */
export const lookAgainMs = (policy: DeletionGuardPolicy): number =>
  Math.min(60_000, Math.max(1, policy.confirmAfterMs / Math.max(1, policy.confirmLists)))
