import type { LoggedCommit } from './change-log.ts'
import { formatRevision } from './revision.ts'
import type { Change } from './store.ts'

/** What the log holds: a change, and no bookmark. */
export type LoggedChange = Exclude<Change, { type: 'bookmark' }>

const deepFreeze = <T>(value: T): T => {
  if (value !== null && typeof value === 'object') {
    for (const field of Object.values(value)) deepFreeze(field)
    Object.freeze(value)
  }
  return value
}

function decode(storeId: string, commit: LoggedCommit): readonly LoggedChange[] {
  const revision = formatRevision(storeId, commit.sequence)
  return commit.writes.map(({ kind, id, scope, text }) =>
    text === null
      ? { type: 'delete', ref: { kind, id }, scope, revision }
      : { type: 'put', object: { kind, id, revision, scope, value: deepFreeze(JSON.parse(text)) } },
  )
}

/** Decodes commits, each once however many watches read it: they share the frozen result. */
export class ChangeDecoder {
  readonly #storeId: string
  readonly #decoded = new WeakMap<LoggedCommit, readonly LoggedChange[]>()

  constructor(storeId: string) {
    this.#storeId = storeId
  }

  changes(commit: LoggedCommit): readonly LoggedChange[] {
    const known = this.#decoded.get(commit)
    if (known !== undefined) return known
    const changes = decode(this.#storeId, commit)
    this.#decoded.set(commit, changes)
    return changes
  }
}
