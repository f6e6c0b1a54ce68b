import { SpoutError } from '@spout/model'
import type { LoggedCommit, LoggedWrite } from './change-log.ts'
import { conflictOf } from './condition.ts'
import type { Lease } from './leases/leases.ts'
import type { PlannedWrite } from './planned-write.ts'
import type { Ref } from './store.ts'

/** A commit that waits to be stored. */
export interface PendingCommit {
  readonly writes: readonly PlannedWrite[]
  /** Undefined: it needs none. */
  readonly lease: Lease | undefined
}

/** Where the log ends. */
export interface LogEnd {
  readonly head: number
  readonly headBytes: number
}

/** An object as it is before the batch. */
export interface Present extends Ref {
  readonly scope: string | null
  readonly revision: number
}

/** A row of the log. */
export interface ChangeRow extends Ref {
  readonly position: number
  readonly revision: number
  /** The values of the whole log up to here. */
  readonly bytes: number
  readonly scope: string | null
  /** Null is a deletion. */
  readonly text: string | null
  /** Whether the object stays like this at the end of the batch. */
  isLast: boolean
}

export type Outcome = { readonly commit: LoggedCommit } | { readonly error: SpoutError }

export interface BatchPlan {
  /** Of each commit of the batch, in order. */
  readonly outcomes: readonly Outcome[]
  readonly rows: readonly ChangeRow[]
  readonly end: LogEnd
}

const keyOf = ({ kind, id }: Ref): string => `${kind} ${id}`

/** The objects that have to be known to check the conditions of a batch. */
export const refsToKnow = (batch: readonly PendingCommit[]): readonly Ref[] => {
  const refs = new Map<string, Ref>()
  for (const { writes } of batch)
    for (const { kind, id, text, condition } of writes)
      if (text === null || condition !== 'none') refs.set(keyOf({ kind, id }), { kind, id })
  return [...refs.values()]
}

/**
 * Applies the commits of a batch one after the other, each whole or not at all.
 * @param lossOf why a commit under this lease is refused; null when it is held
 */
export function planBatch(
  batch: readonly PendingCommit[],
  before: { readonly end: LogEnd; readonly present: readonly Present[] },
  lossOf: (lease: Lease) => SpoutError | null,
): BatchPlan {
  const objects = new Map<string, Omit<Present, 'kind' | 'id'> | null>(
    before.present.map((object) => [keyOf(object), object]),
  )
  const rows: ChangeRow[] = []
  let end = before.end
  const outcomes = batch.map(({ writes, lease }): Outcome => {
    const loss = lease === undefined ? null : lossOf(lease)
    if (loss !== null) return { error: loss }
    const sequence = end.head + writes.length
    const staged = new Map<string, Omit<Present, 'kind' | 'id'> | null>()
    const logged: LoggedWrite[] = []
    for (const write of writes) {
      const { kind, id, text, value } = write
      const key = keyOf(write)
      const there = (staged.has(key) ? staged.get(key) : objects.get(key)) ?? null
      const isKnown = text === null || write.condition !== 'none'
      const conflict = isKnown ? conflictOf(write, there?.revision ?? null) : null
      if (conflict !== null) return { error: new SpoutError(conflict, { what: kind, id }) }
      const scope = text === null ? (there?.scope ?? null) : write.scope
      staged.set(key, text === null ? null : { scope, revision: sequence })
      logged.push(value === undefined ? { kind, id, scope, text } : { kind, id, scope, text, value })
    }
    for (const [key, object] of staged) objects.set(key, object)
    for (const { kind, id, scope, text } of logged) {
      end = { head: end.head + 1, headBytes: end.headBytes + (text?.length ?? 0) }
      rows.push({ position: end.head, revision: sequence, bytes: end.headBytes, kind, id, scope, text, isLast: true })
    }
    return { commit: { sequence, writes: logged } }
  })
  const seen = new Set<string>()
  for (const row of rows.toReversed()) {
    row.isLast = !seen.has(keyOf(row))
    seen.add(keyOf(row))
  }
  return { outcomes, rows, end }
}
