import { type Edit, edited } from '@spout/model'
import type { Ref } from '../store.ts'
import { deepFreeze } from '../values/frozen.ts'
import { type ObjectRow, type ReadStatements, rows } from './statements.ts'

interface TextRow extends Omit<ObjectRow, 'value'> {
  readonly value: string
}

interface EditRow {
  readonly id: string
  readonly revision: number
  readonly edits: string
}

/** The objects in the file, large ones with the edits made since they were written whole. */
export class StoredObjects {
  readonly #statements: ReadStatements

  constructor(statements: ReadStatements) {
    this.#statements = statements
  }

  get(kind: string, id: string): Omit<ObjectRow, 'id'> | null {
    const row = this.#row({ kind, id })
    if (row === undefined) return null
    const edits = this.#editsOf({ kind, id })
    return { scope: row.scope, revision: edits.at(-1)?.revision ?? row.revision, value: wholeValue(row.value, edits) }
  }

  list(kind: string, scope: string | null | undefined): readonly ObjectRow[] {
    const { list, listScope, editsOfKind } = this.#statements
    const editsOf = Map.groupBy(rows<EditRow>(editsOfKind.all(kind)), ({ id }) => id)
    const objects: ObjectRow[] = []
    // Row by row: the texts of all rows together would be most of a start's garbage.
    for (const row of scope === undefined ? list.iterate(kind) : listScope.iterate(kind, scope)) {
      const { id, scope: inScope, revision, value } = row as unknown as TextRow
      const edits = editsOf.get(id) ?? []
      objects.push({
        id,
        scope: inScope,
        revision: edits.at(-1)?.revision ?? revision,
        value: wholeValue(value, edits),
      })
    }
    return objects
  }

  /** The object as edits left it at a sequence, frozen; null when it was written whole or deleted since. */
  at(ref: Ref, sequence: number): unknown {
    const row = this.#row(ref)
    if (row === undefined || row.revision >= sequence) return null
    return deepFreeze(wholeValue(row.value, this.#editsOf(ref, sequence)))
  }

  #row({ kind, id }: Ref): Omit<TextRow, 'id'> | undefined {
    return this.#statements.get.get(kind, id) as Omit<TextRow, 'id'> | undefined
  }

  #editsOf({ kind, id }: Ref, upTo = Number.MAX_SAFE_INTEGER): readonly EditRow[] {
    return rows<EditRow>(this.#statements.edits.all(kind, id, upTo))
  }
}

const wholeValue = (text: string, edits: readonly EditRow[]): unknown =>
  edits.reduce<unknown>(
    (value, { edits: made }) => edited(value, JSON.parse(made) as readonly Edit[]),
    JSON.parse(text),
  )
