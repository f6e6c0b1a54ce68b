import type { Ref } from '../store.ts'
import { LARGE_BYTES, rows, type Statements } from './statements.ts'
import type { SentWrite } from './writer-messages.ts'

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

/**
 * An object is written whole again once it has this many edits, or one for each 4 KiB of it, or edits of half its size.
 * So no write has to pay for more than 4 KiB of the whole, on average.
 */
const MOST_EDITS = 64
const BYTES_OF_EDIT = 4096

const keyOf = ({ kind, id }: Ref): string => `${kind} ${id}`

/**
 * Writes objects to the file: each whole, and changes of a large one as edits beside it. So adding one member to a
 * document of thousands costs as much as the member.
 */
export class ObjectWrites {
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

  present(ref: Ref): Present | null {
    const row = this.#statements.present.get(ref.kind, ref.id) as Present | undefined
    if (row === undefined || !this.#edited.has(keyOf(ref))) return row ?? null
    return { scope: row.scope, revision: this.#sumOf(ref).revision ?? row.revision }
  }

  /** Whether edits may be stored beside the object. Otherwise it should be written whole. */
  takesEdits({ kind, id, scope, text }: SentWrite, before: Present | null): boolean {
    const whole = this.#large.get(keyOf({ kind, id }))
    if (text === null || whole === undefined || before === null || scope !== before.scope) return false
    const { count, bytes } = this.#sumOf({ kind, id })
    const most = Math.max(MOST_EDITS, whole / BYTES_OF_EDIT)
    return count < most && (bytes ?? 0) + text.length <= whole / 2
  }

  edit({ kind, id }: Ref, edits: string, sequence: number): void {
    this.#edited.add(keyOf({ kind, id }))
    this.#statements.edit.run(kind, id, sequence, edits)
  }

  put({ kind, id, scope }: Ref & { readonly scope: string | null }, text: string, sequence: number): void {
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

  #sumOf(ref: Ref): EditSum {
    return this.#statements.editSum.get(ref.kind, ref.id) as unknown as EditSum
  }
}
