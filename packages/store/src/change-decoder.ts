import type { LoggedCommit } from './change-log.ts'
import { formatRevision } from './revision.ts'
import type { Change } from './store.ts'
import { deepFreeze } from './values/frozen.ts'
import type { KnownValues } from './values/known-values.ts'

/** A change in the log. Bookmarks are not logged. */
export type LoggedChange = Exclude<Change, { type: 'bookmark' }>

function decode(storeId: string, { sequence, writes }: LoggedCommit, known: KnownValues): readonly LoggedChange[] {
  const revision = formatRevision(storeId, sequence)
  return writes.map(({ kind, id, scope, text, value: whole }) => {
    if (text === null) return { type: 'delete', ref: { kind, id }, scope, revision }
    const value: unknown = whole ?? deepFreeze(JSON.parse(text))
    known.note({ kind, id }, sequence, value)
    return { type: 'put', object: { kind, id, revision, scope, value } }
  })
}

/** Decodes each commit once for all watches. They share the frozen result. */
export class ChangeDecoder {
  readonly #storeId: string
  readonly #known: KnownValues
  readonly #decoded = new WeakMap<LoggedCommit, readonly LoggedChange[]>()

  /** @param known learns the decoded values */
  constructor(storeId: string, known: KnownValues) {
    this.#storeId = storeId
    this.#known = known
  }

  changes(commit: LoggedCommit): readonly LoggedChange[] {
    const known = this.#decoded.get(commit)
    if (known !== undefined) return known
    const changes = decode(this.#storeId, commit, this.#known)
    this.#decoded.set(commit, changes)
    return changes
  }
}
