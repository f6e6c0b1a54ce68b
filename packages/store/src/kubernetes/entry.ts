import type { LoggedCommit } from '../change-log.ts'
import { packed, packedLong, unpacked } from './packed.ts'
import { type Parts, readParts, writeParts } from './parts.ts'
import type { RecordContent } from './record.ts'
import type { Records } from './records.ts'

/** Who has a lease, as the log says; `holder` is null once it was given up. */
export interface LeaseRow {
  readonly name: string
  readonly holder: string | null
  readonly token: number
  /** The number of the holder's sign of life that was the reason for this row. */
  readonly sign: number
}

/** A write as it is stored: kind, id, scope, and the value as JSON, or null for a deletion. */
export type StoredWrite = readonly [kind: string, id: string, scope: string | null, text: string | null]

/** An entry of the log: the commits of a batch, or what is ordered along with commits. */
export interface Entry {
  /** The id of the entry before, or of the store: an entry that follows on nothing is noticed. */
  readonly after: string
  /** The newest sequence before. */
  readonly from: number
  readonly commits?: readonly (readonly StoredWrite[])[]
  /** The lease has a new holder, or none. */
  readonly lease?: LeaseRow
  /** Changes up to this sequence are forgotten. */
  readonly floor?: number
}

/** An entry, or where it is. */
type StoredEntry = Entry | { readonly parts: Parts }

/** Longer entries are in records of their own, which are deleted early: the places of the log keep what they have for long. */
const MOST_INLINE_CHARACTERS = 64 * 1024

/** @throws KubeError, KubeUnreachable: then nothing refers to it */
export async function contentOf(
  records: Records,
  entry: Entry,
  { number, id }: Omit<RecordContent, 'data'>,
): Promise<RecordContent> {
  const data = await packedLong(JSON.stringify(entry))
  if (data.length <= MOST_INLINE_CHARACTERS) return { number, id, data }
  const parts = await writeParts(records, number, data)
  return { number, id, data: packed({ parts } satisfies StoredEntry) }
}

/**
 * @param old whether the entry is in a snapshot: then its parts may be deleted
 * @returns null for an old entry that is in parts
 * @throws PartMissing; KubeError, KubeUnreachable
 */
export async function entryOf(records: Records, { data }: RecordContent, old = false): Promise<Entry | null> {
  const stored = (await unpacked(data)) as StoredEntry
  if (!('parts' in stored)) return stored
  return old ? null : ((await unpacked(await readParts(records, stored.parts))) as Entry)
}

/** The commits of an entry, as watches read them. Each takes as many sequences as it has writes, as in `planBatch`. */
export function commitsOf({ from, commits = [] }: Entry): readonly LoggedCommit[] {
  let sequence = from
  return commits.map((writes) => {
    sequence += writes.length
    return { sequence, writes: writes.map(([kind, id, scope, text]) => ({ kind, id, scope, text })) }
  })
}

export const storedWrites = (commit: LoggedCommit): readonly StoredWrite[] =>
  commit.writes.map(({ kind, id, scope, text }) => [kind, id, scope, text])
