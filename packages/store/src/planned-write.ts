import { editsBetween, SpoutError } from '@spout/model'
import { parseRevision } from './revision.ts'
import type { Ref, Write } from './store.ts'
import { freezeAsJson } from './values/frozen.ts'
import type { KnownValues } from './values/known-values.ts'

/** A write that was checked and encoded: what both engines apply. */
export interface PlannedWrite extends Ref {
  readonly scope: string | null
  /** The value as JSON, or `Edit`s as JSON where it `isEdit`; null deletes. */
  readonly text: string | null
  /** Only on what is there at the sequence of `condition`. */
  readonly isEdit: boolean
  /** The value itself, where the store took it over. */
  readonly value?: unknown
  /** The sequence it must have; `unknown` is a revision this store never gave out and matches nothing. */
  readonly condition: 'none' | 'absent' | 'unknown' | number
}

/** Printable ASCII: orders alike in every engine, and survives every one of them unchanged. */
const NAME = /^[\x21-\x7e]{1,128}$/

function checkedName(field: string, name: string): string {
  if (!NAME.test(name)) throw new SpoutError('InvalidField', { field, reason: 'must be 1 to 128 printable ASCII' })
  return name
}

function encode(value: unknown): string {
  // JSON.stringify is typed to return a string, but answers undefined for what JSON has no word for.
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new SpoutError('InvalidField', { field: 'value', reason: 'is not a JSON document' })
  return text
}

/** What an engine knows of the values that it was given before. */
export interface Encoding {
  readonly known: KnownValues
  /** Whether edits of this object are worth it. */
  readonly isLarge: (ref: Ref) => boolean
}

/** @throws SpoutError InvalidField for a name or value that no store takes */
export function planWrite(storeId: string, write: Write, encoding: Encoding): PlannedWrite {
  const { ifRevision } = write
  const ref = { kind: checkedName('kind', write.kind), id: checkedName('id', write.id) }
  const condition =
    ifRevision === undefined
      ? 'none'
      : ifRevision === 'absent'
        ? 'absent'
        : (parseRevision(storeId, ifRevision) ?? 'unknown')
  if (write.op === 'delete') return { ...ref, scope: null, text: null, isEdit: false, condition }
  const scope = write.scope === null ? null : checkedName('scope', write.scope)
  const { value, over } = write
  // What it is written over shares parts with it, when it is certain to be one of this store's.
  const isKnown = typeof condition === 'number' && encoding.known.has(ref, condition, over)
  const before = isKnown ? over : undefined
  if (over === undefined || typeof value !== 'object' || !freezeAsJson(value, before))
    return { ...ref, scope, text: encode(value), isEdit: false, condition }
  const edits = before === undefined || !encoding.isLarge(ref) ? null : editsBetween(before, value)
  const text = edits === null ? encode(value) : JSON.stringify(edits)
  return { ...ref, scope, text, isEdit: edits !== null, value, condition }
}

/** Whether the write makes the object be as `text` says, whole. */
export const wholeText = ({ text, isEdit, value }: PlannedWrite): string | null => (isEdit ? encode(value) : text)

/**
 * Whether a write may happen on what is there.
 * @param sequence of the stored object, or null when there is none
 * @throws SpoutError NotFound, AlreadyExists, RevisionConflict
 */
export function checkCondition(write: PlannedWrite, sequence: number | null): void {
  const what = { what: write.kind, id: write.id }
  if (write.condition === 'absent') {
    if (sequence !== null) throw new SpoutError('AlreadyExists', what)
  } else if (sequence === null) {
    if (write.text === null || write.condition !== 'none') throw new SpoutError('NotFound', what)
  } else if (write.condition !== 'none' && write.condition !== sequence) {
    throw new SpoutError('RevisionConflict', what)
  }
}
