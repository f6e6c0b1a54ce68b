import { randomUUID } from 'node:crypto'
import { isTaken, type Records } from './records.ts'

/** Where something long is: in these records, one after the other. */
export interface Parts {
  readonly set: string
  readonly count: number
}

/** Of `data`, which is ASCII. etcd takes 1.5 MiB for a request. */
const PART_CHARACTERS = 1_000_000

/** What was to be read is deleted: something newer has taken its place. */
export class PartMissing extends Error {
  override readonly name = 'PartMissing'
}

const keyOf = (set: string, index: number): string => `${set}-${index}`

/**
 * Writes what is too long for one record. Nothing refers to it yet.
 * @param number of the entry of the log that it belongs to: once a later snapshot is there, it is deleted
 * @throws KubeError, KubeUnreachable
 */
export async function writeParts(records: Records, number: number, data: string): Promise<Parts> {
  const set = randomUUID()
  const count = Math.ceil(data.length / PART_CHARACTERS)
  for (let index = 0; index < count; index++) {
    const part = data.slice(index * PART_CHARACTERS, (index + 1) * PART_CHARACTERS)
    await records.put('part', keyOf(set, index), { number, id: set, data: part }, null).catch((error: unknown) => {
      // Nobody else writes this set.
      if (!isTaken(error)) throw error
    })
  }
  return { set, count }
}

/** @throws PartMissing; KubeError, KubeUnreachable */
export async function readParts(records: Records, { set, count }: Parts): Promise<string> {
  const parts: string[] = []
  for (let index = 0; index < count; index++) {
    const part = await records.get('part', keyOf(set, index))
    if (part === null) throw new PartMissing(`part ${index} of ${count} of ${set} is not there`)
    parts.push(part.spec.data)
  }
  return parts.join('')
}

/** Deletes parts that nothing refers to. */
export async function dropParts(records: Records, { set, count }: Parts): Promise<void> {
  for (let index = 0; index < count; index++) await records.delete(records.nameOf('part', keyOf(set, index)))
}

/**
 * Deletes what no reader needs once a snapshot is there that ends with entry `number`: older snapshots, entries that are
 * in it, and what a process left that ended while it wrote. An entry or a snapshot that is still being written with such
 * a number will find its place taken.
 */
export async function deleteParts(records: Records, number: number, kept: Parts): Promise<void> {
  for (const part of await records.list('part', kept.set))
    if (part.spec.number <= number) await records.delete(part.metadata.name)
}
