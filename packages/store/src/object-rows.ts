import type { LoggedCommit } from './change-log.ts'
import type { Ref } from './store.ts'

/** An object as it is stored. */
export interface ObjectRow extends Ref {
  readonly scope: string | null
  /** The value as JSON. */
  readonly text: string
  readonly sequence: number
}

/** The objects of a store in memory. */
export class ObjectRows {
  readonly #kinds = new Map<string, Map<string, ObjectRow>>()

  find({ kind, id }: Ref): ObjectRow | null {
    return this.#kinds.get(kind)?.get(id) ?? null
  }

  /** The objects of a kind, ordered by id. @param scope undefined: all of them */
  of(kind: string, scope: string | null | undefined): readonly ObjectRow[] {
    const rows = [...(this.#kinds.get(kind)?.values() ?? [])].filter(
      (row) => scope === undefined || row.scope === scope,
    )
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  *all(): Generator<ObjectRow> {
    for (const rows of this.#kinds.values()) yield* rows.values()
  }

  put(row: ObjectRow): void {
    const rows = this.#kinds.get(row.kind) ?? new Map<string, ObjectRow>()
    this.#kinds.set(row.kind, rows.set(row.id, row))
  }

  apply({ sequence, writes }: LoggedCommit): void {
    for (const { kind, id, scope, text } of writes)
      if (text === null) this.#kinds.get(kind)?.delete(id)
      else this.put({ kind, id, scope, text, sequence })
  }
}
