import { findingEdits, SpoutError } from '@spout/model'
import { atOnce, inPieces, type Pieces } from '@spout/runtime'
import { type Condition, conflictOf } from './condition.ts'
import { parseRevision } from './revision.ts'
import type { Ref, Write } from './store.ts'
import { freezingAsJson } from './values/frozen.ts'
import type { KnownValues } from './values/known-values.ts'
import { writing } from './values/writing.ts'

/** A checked and encoded write, which both engines apply. */
export interface PlannedWrite extends Ref {
  readonly scope: string | null
  /** The value as JSON, or a JSON list of `Edit`s if `isEdit`; null deletes. */
  readonly text: string | null
  /** Edits apply only to the version at the sequence of `condition`. */
  readonly isEdit: boolean
  /** The value itself, if the store took it over. */
  readonly value?: unknown
  /** What the value takes in memory beside the version before: lists that are new, although most of their items are not. */
  readonly heldBytes?: number
  /** The sequence that the object must have, or another condition. */
  readonly condition: Condition
}

/** Printable ASCII sorts alike in every engine and is stored unchanged by each. */
const NAME = /^[\x21-\x7e]{1,128}$/

function checkedName(field: string, name: string): string {
  if (!NAME.test(name)) throw new SpoutError('InvalidField', { field, reason: 'must be 1 to 128 printable ASCII' })
  return name
}

function encode(value: unknown): string {
  // JSON.stringify is typed to return a string, but returns undefined for values that JSON cannot express.
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new SpoutError('InvalidField', { field: 'value', reason: 'is not a JSON document' })
  return text
}

/** What an engine knows of values that it has seen before. */
export interface Encoding {
  readonly known: KnownValues
  /** Whether the object is large enough to write edits of it. */
  readonly isLarge: (ref: Ref) => boolean
}

/**
 * Checks and encodes the writes of a commit, in pieces.
 * @param turn resolves when the next piece may be done
 * @throws SpoutError InvalidField for a name or value that cannot be stored
 */
export async function planWrites(
  storeId: string,
  writes: readonly Write[],
  encoding: Encoding,
  turn: () => Promise<void>,
): Promise<readonly PlannedWrite[]> {
  const planned: PlannedWrite[] = []
  for (const write of writes) planned.push(await inPieces(planning(storeId, write, encoding, writing), turn))
  return planned
}

/** Checks and encodes one write, at once. @throws SpoutError InvalidField, as `planWrites` */
export const planWrite = (storeId: string, write: Write, encoding: Encoding): PlannedWrite =>
  atOnce(planning(storeId, write, encoding, writingAtOnce))

/** Short values need no search for long lists, and most writes are short. */
// biome-ignore lint/correctness/useYield: it is the writer without pauses.
function* writingAtOnce(value: unknown): Pieces<string> {
  return JSON.stringify(value)
}

function* planning(
  storeId: string,
  write: Write,
  encoding: Encoding,
  textOf: (value: unknown) => Pieces<string>,
): Pieces<PlannedWrite> {
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
  // Only a version of this store can share parts with the value that replaces it.
  const isKnown = typeof condition === 'number' && encoding.known.has(ref, condition, over)
  const before = isKnown ? over : undefined
  const heldBytes = over === undefined || typeof value !== 'object' ? null : yield* freezingAsJson(value, before)
  if (heldBytes === null) return { ...ref, scope, text: encode(value), isEdit: false, condition }
  const edits = before === undefined || !encoding.isLarge(ref) ? null : yield* findingEdits(before, value)
  const text = yield* textOf(edits ?? value)
  return { ...ref, scope, text, isEdit: edits !== null, value, heldBytes, condition }
}

/** The same write with the whole new value in place of edits. */
export const wholeWrite = (write: PlannedWrite): PlannedWrite =>
  write.isEdit ? { ...write, text: encode(write.value), isEdit: false } : write

/**
 * Checks the write's condition.
 * @param sequence of the stored object; null when there is none
 * @throws SpoutError NotFound, AlreadyExists, RevisionConflict
 */
export function checkCondition(write: PlannedWrite, sequence: number | null): void {
  const conflict = conflictOf(write, sequence)
  if (conflict !== null) throw new SpoutError(conflict, { what: write.kind, id: write.id })
}
