/** Why objects that a complete list lacks do not count as deleted. */
export type DeletionGuardReason =
  /** The server's kube-system namespace has another UID: another cluster answers. None of its objects is taken. */
  | 'other-cluster'
  /** The server's history went back: etcd was restored from a backup. */
  | 'history'
  /** The list is empty. */
  | 'empty'
  /** Implausibly many objects went missing at once. */
  | 'shrunk'

export interface DeletionGuardPolicy {
  /** With fewer known objects than this, any list is plausible. */
  readonly fromObjects: number
  /** A list that lacks more than this fraction of the known objects is implausible. */
  readonly maxGoneShare: number
  /** With reasons `empty` and `shrunk`, the objects count as deleted after this many lists in a row without them ... */
  readonly confirmLists: number
  /** ... if these lists also span at least this time. Infinity: only `confirm` ends the guard. */
  readonly confirmAfterMs: number
}

export const DEFAULT_DELETION_GUARD_POLICY: DeletionGuardPolicy = {
  fromObjects: 3,
  maxGoneShare: 0.5,
  confirmLists: 4,
  confirmAfterMs: 10 * 60_000,
}

/**
 * A deletion guard that is up: objects are missing, and there is a reason to doubt that they were deleted. Held objects
 * count as present until their deletion is confirmed, or until they come back.
 */
export interface DeletionGuard {
  readonly reason: DeletionGuardReason
  readonly heldKeys: ReadonlySet<string>
  /** Monotonic time of the first list that lacked them. */
  readonly sinceMs: number
  /** How many lists in a row have lacked them. */
  readonly lists: number
}

/** The comparison of a complete list with the objects that were known before. */
export interface ListSight {
  /** The number of objects that were known before. */
  readonly known: number
  /** The known objects that the list lacks. */
  readonly gone: ReadonlySet<string>
  readonly historyWentBack: boolean
}

/**
 * Decides whether objects that a complete list lacks are deleted.
 *
 * After a restored backup (`history`) they count as deleted only after `confirm`: objects that were created since the
 * backup are missing, but in use. If many objects are missing for another reason, somebody may have cleaned up while we
 * were disconnected: they count as deleted when further lists lack them as well.
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
  // A guard that is up stays up until the fate of every held object is clear, also when most of them have come back.
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
