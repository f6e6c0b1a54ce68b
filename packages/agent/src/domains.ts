import type { Applied } from '@spout/dataplane'
import type { DomainEntry } from '@spout/model/node-state'

/** What the reconciler needs of the domains of a node; the same promises as a driver's. */
export interface Domains {
  /**
   * Takes over what an earlier process left: what is as its entry says is not touched, what is missing is made.
   * @returns the numbers of the domains that were there
   */
  adopt(previous: readonly DomainEntry[]): Promise<readonly number[]>
  /** What was found beyond the entries of `adopt` may be removed by the first call. */
  apply(
    changes: { readonly put: readonly DomainEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]>
  /** Keys of domains that were lost. */
  observe(): Promise<readonly string[]>
}
