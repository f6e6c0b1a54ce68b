import type { Ref } from '../store.ts'
import { LARGE_BYTES, rows, type Statements } from './statements.ts'
import type { SentWrite } from './writer-messages.ts'

/** An object as a write finds it. */
export interface Present {
  readonly scope: string | null
  readonly revision: number
}

/** The edits of an object since it was written whole. */
interface EditSum {
  readonly count: number
  readonly bytes: number
  /** Of the last one; null without edits. */
  readonly revision: number | null
}

const NO_EDITS: EditSum = { count: 0, bytes: 0, revision: null }

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
  /**
   * The sums of objects that may have edits; null until one is asked for. An object of thousands of parts has thousands
   * of edits, so they are added up here: to ask the file for each write would read them all.
   */
  readonly #edited: Map<string, EditSum | null>

  constructor(statements: Statements) {
    this.#statements = statements
    for (const { kind, id, bytes } of rows<Ref & { bytes: number }>(statements.large.all(LARGE_BYTES)))
      this.#large.set(keyOf({ kind, id }), bytes)
    this.#edited = new Map(rows<Ref>(statements.editedIn.all()).map((ref) => [keyOf(ref), null]))
  }

  /** Forgets the sums of a transaction that failed. */
  rolledBack(): void {
    for (const key of this.#edited.keys()) this.#edited.set(key, null)
  }

  present(ref: Ref): Present | null {
    const row = this.#statements.present.get(ref.kind, ref.id) as Present | undefined
    if (row === undefined) return null
    return { scope: row.scope, revision: this.#sumOf(ref).revision ?? row.revision }
  }

  /** Whether edits may be stored beside the object. Otherwise it should be written whole. */
  takesEdits({ kind, id, scope, text }: SentWrite, before: Present | null): boolean {
    const whole = this.#large.get(keyOf({ kind, id }))
    if (text === null || whole === undefined || before === null || scope !== before.scope) return false
    const { count, bytes } = this.#sumOf({ kind, id })
    const most = Math.max(MOST_EDITS, whole / BYTES_OF_EDIT)
    return count < most && bytes + text.length <= whole / 2
  }

  edit({ kind, id }: Ref, edits: string, sequence: number): void {
    const { count, bytes } = this.#sumOf({ kind, id })
    this.#edited.set(keyOf({ kind, id }), { count: count + 1, bytes: bytes + edits.length, revision: sequence })
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
    if (!this.#edited.has(keyOf(ref))) return
    this.#statements.forgetEdits.run(ref.kind, ref.id)
    // It stays in `#edited`, because the transaction may yet fail.
    this.#edited.set(keyOf(ref), NO_EDITS)
  }

  #sumOf(ref: Ref): EditSum {
    const known = this.#edited.get(keyOf(ref))
    if (known === undefined) return NO_EDITS
    if (known !== null) return known
    const sum = this.#statements.editSum.get(ref.kind, ref.id) as unknown as EditSum
    this.#edited.set(keyOf(ref), sum)
    return sum
  }
}
