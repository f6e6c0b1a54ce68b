import type { GroupEntry } from '@spout/model/node-state'
import type { GroupFollower, GroupReport } from '../contracts/group-follower.ts'

type Followers = readonly Partial<Pick<GroupFollower, 'follow' | 'report' | 'onReport'>>[]

/**
 * Applies to all followers at once. One that refuses its settings stops no other.
 * @throws AggregateError of the refusals
 */
export async function followAll(followers: Followers, entry: GroupEntry | null, signal: AbortSignal): Promise<void> {
  const outcomes = await Promise.allSettled(followers.map(async (follower) => follower.follow?.(entry, signal)))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
  if (refused.length > 0) throw new AggregateError(refused, refused.map(({ message }) => message).join('; '))
}

/** The reports of all followers, merged. */
export async function reportOf(followers: Followers): Promise<GroupReport> {
  const reports = await Promise.all(followers.map((follower) => follower.report?.()))
  return Object.fromEntries(reports.flatMap((report) => Object.entries(report ?? {})))
}

/** @returns a function that ends it */
export function onReportOf(followers: Followers, listener: (report: GroupReport) => void): () => void {
  const ends = followers.map((follower) => follower.onReport?.(listener))
  return () => {
    for (const end of ends) end?.()
  }
}
