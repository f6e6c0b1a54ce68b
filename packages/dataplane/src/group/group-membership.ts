import type { GroupEntry } from '@spout/model/node-state'
import { followAll, onReportOf, reportOf } from '../announcers/followers.ts'
import type { GroupFollower, GroupReport } from '../contracts/group-follower.ts'

export interface GroupMembershipOptions {
  /** Configured before all others, because their work may begin as soon as an address is announced. */
  readonly first: readonly GroupFollower[]
  /** Announcers before the followers that ask them which addresses this node owns. */
  readonly followers: readonly GroupFollower[]
}

/** A node's membership in its group: everything that the entry `group` configures, and its part of the node's report. */
export class GroupMembership implements GroupFollower {
  readonly #options: GroupMembershipOptions

  constructor(options: GroupMembershipOptions) {
    this.#options = options
  }

  /** A follower that refuses its settings keeps the old ones and stops no other. @throws AggregateError of the refusals */
  async follow(entry: GroupEntry | null, signal: AbortSignal): Promise<void> {
    const { first, followers } = this.#options
    const outcomes = [
      await settled(followAll(first, entry, signal)),
      await settled(followAll(followers, entry, signal)),
    ]
    const refused = outcomes.flat()
    if (refused.length > 0) throw new AggregateError(refused, refused.map(({ message }) => message).join('; '))
  }

  report(): Promise<GroupReport> {
    return reportOf(this.#all)
  }

  /** @returns a function that unsubscribes */
  onReport(listener: (report: GroupReport) => void): () => void {
    return onReportOf(this.#all, listener)
  }

  /** In reverse order: followers that ask the announcers are closed before them. */
  async close(): Promise<void> {
    for (const follower of this.#all.toReversed()) await follower.close()
  }

  get #all(): readonly GroupFollower[] {
    return [...this.#options.first, ...this.#options.followers]
  }
}

const settled = (work: Promise<void>): Promise<readonly Error[]> =>
  work.then(
    () => [],
    (error: AggregateError) => error.errors as readonly Error[],
  )
