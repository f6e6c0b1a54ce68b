import type { Applied } from '@spout/dataplane'
import type { DomainEntry } from '@spout/model/node-state'

/** The domains of a node, as the reconciler uses them. The contract is that of `EntryFollower`. */
export interface Domains {
  /**
   * Takes over the domains that an earlier process left. It does not touch what matches its entry and creates what is
   * missing.
   * @returns the numbers of the domains that existed
   */
  adopt(previous: readonly DomainEntry[]): Promise<readonly number[]>
  /** The first call may remove domains that `adopt` found without an entry. */
  apply(
    changes: { readonly put: readonly DomainEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]>
  /** Keys of domains that were lost. */
  observe(): Promise<readonly string[]>
}
