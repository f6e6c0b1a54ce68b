import { randomBytes, randomUUID } from 'node:crypto'
import { isNotFound } from '@spout/kube'
import { packed, unpacked } from './packed.ts'
import type { Parts } from './parts.ts'
import type { StoreRecord } from './record.ts'
import { isTaken, type Records } from './records.ts'

/** The version of what the records hold, and the oldest version whose programs can use it. */
export interface RecordFormat {
  readonly version: number
  readonly usableFrom: number
}

/** What this program writes. */
export const FORMAT: RecordFormat = { version: 1, usableFrom: 1 }

/** Which store it is, and where its newest snapshot is. */
export interface Root {
  readonly format: RecordFormat
  readonly storeId: string
  /** How many places the log has. */
  readonly slots: number
  /** Null: everything is in the log. */
  readonly snapshot: Parts | null
}

export interface ReadRoot extends Root {
  /** The entry that the snapshot ends with. */
  readonly number: number
  readonly version: string
}

/** @throws Error: only a newer program can use the store */
export async function rootOf({ metadata, spec }: StoreRecord): Promise<ReadRoot> {
  const root = (await unpacked(spec.data)) as Root
  const { usableFrom } = root.format
  if (usableFrom > FORMAT.version)
    throw new Error(`its format is usable from version ${usableFrom} on, and this program knows ${FORMAT.version}`)
  return { ...root, number: spec.number, version: metadata.resourceVersion ?? '' }
}

/** @returns null when there is none */
export async function readRoot(records: Records): Promise<ReadRoot | null> {
  const record = await records.get('root')
  return record === null ? null : rootOf(record)
}

/** The root of a store, which is made if there is none. @throws Error: the kind or the namespace is not there */
export async function openRoot(records: Records, slots: number): Promise<ReadRoot> {
  const there = await readRoot(records)
  if (there !== null) return there
  const root: Root = { format: FORMAT, storeId: randomBytes(4).toString('hex'), slots, snapshot: null }
  try {
    return await rootOf(await records.put('root', '', contentOf(root, 0), null))
  } catch (error) {
    if (isNotFound(error)) throw new Error(`the namespace or the kind StoreRecord is not there: ${error.message}`)
    if (!isTaken(error)) throw error
    // Another process was faster.
    return openRoot(records, slots)
  }
}

/**
 * Puts a newer snapshot in the place of the one before.
 * @returns null when another process has changed the root
 */
export async function replaceRoot(
  records: Records,
  { version, format, storeId, slots }: ReadRoot,
  { number, snapshot }: { readonly number: number; readonly snapshot: Parts },
): Promise<ReadRoot | null> {
  try {
    return await rootOf(await records.put('root', '', contentOf({ format, storeId, slots, snapshot }, number), version))
  } catch (error) {
    if (isTaken(error)) return null
    throw error
  }
}

const contentOf = (root: Root, number: number) => ({ number, id: randomUUID(), data: packed(root) })
