/** Why the absence of objects in a complete list is not believed. */
export type DoubtReason =
  /** The server's kube-system namespace has another UID: it is not the cluster we knew. Nothing of it is taken. */
  | 'other-cluster'
  /** The server's history went back: etcd was restored from a backup. */
  | 'history'
  /** Nothing is left. */
  | 'empty'
  /** More went at once than is likely. */
  | 'shrunk'

export interface DoubtPolicy {
  /** With fewer objects before, any list is plausible. */
  readonly fromObjects: number
  /** A list that lacks more than this share of the objects is doubted. */
  readonly maxGoneShare: number
  /** `empty` and `shrunk` are believed once so many lists ... */
  readonly confirmLists: number
  /** ... over so long said the same. Infinity: never without `confirm`. */
  readonly confirmAfterMs: number
}

export const DEFAULT_DOUBT_POLICY: DoubtPolicy = {
  fromObjects: 3,
  maxGoneShare: 0.5,
  confirmLists: 4,
  confirmAfterMs: 10 * 60_000,
}

/** A standing doubt. What is held counts as there until it is confirmed to be gone, or comes back. */
export interface Doubt {
  readonly reason: DoubtReason
  readonly heldKeys: ReadonlySet<string>
  /** Monotonic time of the first list that was doubted. */
  readonly sinceMs: number
  /** Lists that said so up to now. */
  readonly lists: number
}

/** What a complete list looks like beside what was known before. */
export interface ListSight {
  /** Keys known before. */
  readonly known: number
  /** Those of them that the list lacks. */
  readonly gone: ReadonlySet<string>
  readonly historyWentBack: boolean
}

/**
 * Whether a complete list's absences are believed.
 *
 * A history that went back is never believed by itself, whatever is missing: what was made since the backup is not in
 * it, and is in use. Many missing objects may be a clean-up that happened while we looked away; when the server goes on
 * saying so, it is true.
 *
 * @returns null when they are, else the doubt that stands from now on
 */
export function judgeList(sight: ListSight, before: Doubt | null, nowMs: number, policy: DoubtPolicy): Doubt | null {
  const { known, gone, historyWentBack } = sight
  if (gone.size === 0) return null
  const reason = historyWentBack || before?.reason === 'history' ? 'history' : reasonOf(known, gone.size, policy)
  // A doubt stands until what it holds is settled, also when most of it came back.
  const standing = reason ?? before?.reason ?? null
  if (standing === null) return null
  const [sinceMs, lists] = before?.reason === standing ? [before.sinceMs, before.lists + 1] : [nowMs, 1]
  const confirmed = standing !== 'history' && lists >= policy.confirmLists && nowMs - sinceMs >= policy.confirmAfterMs
  return confirmed ? null : { reason: standing, heldKeys: gone, sinceMs, lists }
}

function reasonOf(known: number, gone: number, policy: DoubtPolicy): 'empty' | 'shrunk' | null {
  if (known < policy.fromObjects) return null
  if (gone === known) return 'empty'
  return gone / known > policy.maxGoneShare ? 'shrunk' : null
}

/** How long to wait before a doubted list is looked at again. */
export const lookAgainMs = (policy: DoubtPolicy): number =>
  Math.min(60_000, Math.max(1, policy.confirmAfterMs / Math.max(1, policy.confirmLists)))
