import { crc32 } from 'node:zlib'
import type { Edit } from '@spout/model/edits'
import type { NodeStateEntry } from '@spout/model/node-state'

/**
 * One change of this node's applied state. The last record of a key counts. `down`: ids of the members that were down
 * when the entry was applied. `shares`: percentages of members in slow start at that time; absent when there were none.
 */
export type JournalRecord =
  /** The first record. Absent in journals from before 0.1.0, which are of version 1. */
  | { readonly format: JournalFormat }
  | {
      readonly put: { readonly hash: string; readonly entry: NodeStateEntry; readonly down: readonly string[] } & Rising
    }
  /** The edits of a large entry since its last record; `from` is the hash that it had then. */
  | {
      readonly edit: {
        readonly key: string
        readonly from: string
        readonly hash: string
        readonly edits: readonly Edit[]
        readonly down: readonly string[]
      } & Rising
    }
  /** The same entry with other members down or in slow start. */
  | { readonly down: { readonly key: string; readonly members: readonly string[] } & Rising }
  | { readonly delete: string }

/** How a journal is written, as the store's schema says it of itself. */
export interface JournalFormat {
  readonly version: number
  /** The oldest version whose agents can use it: they read what they know, and skip other records. */
  readonly usableFrom: number
}

/**
 * A version that adds kinds of records, or fields, which the agent of the previous release may ignore, raises `version`
 * alone: so that agent takes the journal over on the way back.
 */
export const JOURNAL_FORMAT: JournalFormat = { version: 1, usableFrom: 1 }

interface Rising {
  readonly shares?: readonly (readonly [memberId: string, percent: number])[]
}

/** `<CRC-32 of the text, 8 hexadecimal digits> <JSON>` and a newline. The checksum detects a torn or damaged line. */
export function formatRecord(record: JournalRecord): string {
  const text = JSON.stringify(record)
  return `${checksum(text)} ${text}\n`
}

/** @returns null if the line is damaged */
export function parseRecord(line: string): JournalRecord | null {
  const text = line.slice(9)
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(text)) return null
  return JSON.parse(text) as JournalRecord
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0')
