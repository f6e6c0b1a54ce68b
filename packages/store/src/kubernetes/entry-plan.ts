import { SpoutError } from '@spout/model'
import { planBatch, refsToKnow } from '../batch-plan.ts'
import type { LoggedCommit } from '../change-log.ts'
import type { Settled } from '../group-commit.ts'
import type { Lease } from '../leases/leases.ts'
import { type Entry, storedWrites } from './entry.ts'
import type { LogState } from './log-state.ts'
import { isCommits, type Run } from './runs.ts'

export interface EntryPlan {
  /** Of each item of the run, once the entry is stored: the newest sequence, as after that item. */
  readonly results: readonly Settled<number>[]
  /** Null: nothing is to be stored. */
  readonly entry: Entry | null
  readonly commits: readonly LoggedCommit[]
}

/** What a lease is in no more: the answer to a claim that another was faster. */
export const HANDED_TO_ANOTHER = -1

/** The next entry of the log, as far as the log is known. */
export function planEntry(run: Run, state: LogState): EntryPlan {
  const { place, head } = state
  const base = { after: place.id, from: head }
  if (isCommits(run)) {
    const present = refsToKnow(run).flatMap((ref) => {
      const row = state.rows.find(ref)
      return row === null ? [] : [{ ...ref, scope: row.scope, revision: row.sequence }]
    })
    const { outcomes } = planBatch(run, { end: { head, headBytes: 0 }, present }, (lease) => lossOf(state, lease))
    const commits = outcomes.flatMap((outcome) => ('commit' in outcome ? [outcome.commit] : []))
    const results = outcomes.map((one) => ('commit' in one ? { value: one.commit.sequence } : one))
    const entry = commits.length === 0 ? null : { ...base, commits: commits.map(storedWrites) }
    return { results, entry, commits }
  }
  if ('floor' in run) {
    const entry = run.floor > state.floor ? { ...base, floor: run.floor } : null
    return { results: [{ value: head }], entry, commits: [] }
  }
  const now = state.lease(run.to.name)
  const { from } = run
  const isAsKnown = now?.token === from?.token && now?.holder === from?.holder && now?.sign === from?.sign
  if (!isAsKnown) return { results: [{ value: HANDED_TO_ANOTHER }], entry: null, commits: [] }
  return { results: [{ value: head }], entry: { ...base, lease: run.to }, commits: [] }
}

function lossOf(state: LogState, { name, holder, token }: Lease): SpoutError | null {
  const now = state.lease(name)
  if (now?.holder === holder && now.token === token) return null
  const reason = now === null || now.holder === null ? 'it was given up' : `${now.holder} has it`
  return new SpoutError('LeaseLost', { lease: name, reason })
}
