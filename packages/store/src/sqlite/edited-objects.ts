import type { SQLOutputValue } from 'node:sqlite'
import { type Edit, edited } from '@spout/model'
import type { PlannedWrite } from '../planned-write.ts'
import type { Ref } from '../store.ts'
import { deepFreeze } from '../values/frozen.ts'
import type { ObjectRow, Statements } from './statements.ts'

interface TextRow extends Omit<ObjectRow, 'value'> {
  readonly value: string
}

interface EditRow {
  readonly id: string
  readonly revision: number
  readonly edits: string
}

/** An object as a write finds it. */
export interface Present {
  readonly scope: string | null
  readonly revision: number
}

interface EditSum {
  readonly count: number
  /** Null without edits. */
  readonly revision: number | null
  readonly bytes: number | null
}

/** Objects of at least this size are written as edits. */
const LARGE_BYTES = 16_384
/** An object is written whole again once it has this many edits, or edits of half its size. */
const MOST_EDITS = 64

const keyOf = ({ kind, id }: Ref): string => `${kind} ${id}`

/**
 * The objects in the file: each whole, large ones with the edits made since. So adding one member to a document of
 * thousands costs as much as the member.
 */
export class EditedObjects {
  readonly #statements: Statements
  /**
   * Size of large objects when they were last written whole. A failed transaction does not reset it, because it only
   * decides what is cheaper.
   */
  readonly #large = new Map<string, number>()
  /** Objects that may have edits. */
  readonly #edited: Set<string>

  constructor(statements: Statements) {
    this.#statements = statements
    for (const { kind, id, bytes } of rows<Ref & { bytes: number }>(statements.large.all(LARGE_BYTES)))
      this.#large.set(keyOf({ kind, id }), bytes)
    this.#edited = new Set(rows<Ref>(statements.editedIn.all()).map(keyOf))
  }

  isLarge(ref: Ref): boolean {
    return this.#large.has(keyOf(ref))
  }

  get(kind: string, id: string): Omit<ObjectRow, 'id'> | null {
    const row = this.#statements.get.get(kind, id) as Omit<TextRow, 'id'> | undefined
    if (row === undefined) return null
    const edits = this.#editsOf({ kind, id })
    return { scope: row.scope, revision: edits.at(-1)?.revision ?? row.revision, value: wholeValue(row.value, edits) }
  }

  list(kind: string, scope: string | null | undefined): readonly ObjectRow[] {
    const { list, listScope, editsOfKind } = this.#statements
    const found = rows<TextRow>(scope === undefined ? list.all(kind) : listScope.all(kind, scope))
    const editsOf = Map.groupBy(rows<EditRow>(editsOfKind.all(kind)), ({ id }) => id)
    return found.map((row) => {
      const edits = editsOf.get(row.id) ?? []
      return { ...row, revision: edits.at(-1)?.revision ?? row.revision, value: wholeValue(row.value, edits) }
    })
  }

  /** The object as edits left it at a sequence, frozen; null when it was written whole or deleted since. */
  at(ref: Ref, sequence: number): unknown {
    const row = this.#statements.get.get(ref.kind, ref.id) as Omit<TextRow, 'id'> | undefined
    if (row === undefined || row.revision >= sequence) return null
    return deepFreeze(wholeValue(row.value, this.#editsOf(ref, sequence)))
  }

  present(ref: Ref): Present | null {
    const row = this.#statements.present.get(ref.kind, ref.id) as Present | undefined
    if (row === undefined || !this.#edited.has(keyOf(ref))) return row ?? null
    return { scope: row.scope, revision: this.#sumOf(ref).revision ?? row.revision }
  }

  /** Stores edits beside the object. @returns false when the object should be written whole instead */
  edit({ kind, id, scope, text }: PlannedWrite, scopeBefore: string | null, sequence: number): boolean {
    const whole = this.#large.get(keyOf({ kind, id }))
    if (text === null || whole === undefined || scope !== scopeBefore) return false
    const { count, bytes } = this.#sumOf({ kind, id })
    if (count >= MOST_EDITS || (bytes ?? 0) + text.length > whole / 2) return false
    this.#edited.add(keyOf({ kind, id }))
    this.#statements.edit.run(kind, id, sequence, text)
    return true
  }

  put({ kind, id, scope }: PlannedWrite, text: string, sequence: number): void {
    this.#forgetEdits({ kind, id })
    this.#statements.put.run(kind, id, scope, sequence, text)
    if (text.length >= LARGE_BYTES) this.#large.set(keyOf({ kind, id }), text.length)
    else this.#large.delete(keyOf({ kind, id }))
  }

  remove(ref: Ref): void {
    this.#forgetEdits(ref)
    this.#statements.delete.run(ref.kind, ref.id)
    this.#large.delete(keyOf(ref))
  }

  #forgetEdits(ref: Ref): void {
    // It stays in `#edited`, because the transaction may yet fail.
    if (this.#edited.has(keyOf(ref))) this.#statements.forgetEdits.run(ref.kind, ref.id)
  }

  #editsOf(ref: Ref, upTo = Number.MAX_SAFE_INTEGER): readonly EditRow[] {
    if (!this.#edited.has(keyOf(ref))) return []
    return rows<EditRow>(this.#statements.edits.all(ref.kind, ref.id, upTo))
  }

  #sumOf(ref: Ref): EditSum {
    return this.#statements.editSum.get(ref.kind, ref.id) as unknown as EditSum
  }
}

const rows = <T>(found: readonly Record<string, SQLOutputValue>[]): readonly T[] => found as unknown as readonly T[]

const wholeValue = (text: string, edits: readonly EditRow[]): unknown =>
  edits.reduce<unknown>(
    (value, { edits: made }) => edited(value, JSON.parse(made) as readonly Edit[]),
    JSON.parse(text),
  )
