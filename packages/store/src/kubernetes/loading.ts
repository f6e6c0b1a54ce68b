import { entryOf } from './entry.ts'
import { type LogState, NotFollowing, type NumberedEntry } from './log-state.ts'
import { PartMissing, readParts } from './parts.ts'
import type { Records } from './records.ts'
import { type ReadRoot, readRoot } from './root.ts'
import type { Slots } from './slots.ts'
import { unpackedSnapshot } from './snapshot.ts'

/** While it is read, another process may put a newer snapshot in the place of the one before, so often at most. */
const MOST_ATTEMPTS = 5

/**
 * Reads everything that is stored: the newest snapshot, and the entries after it.
 * @throws Error: the store is not there, or not whole
 */
export async function load(records: Records, slots: Slots, state: LogState): Promise<ReadRoot> {
  for (let attempt = 1; ; attempt++) {
    const root = await readRoot(records)
    if (root === null) throw new Error('the record that says where everything is was deleted')
    try {
      const snapshot = root.snapshot === null ? null : await unpackedSnapshot(await readParts(records, root.snapshot))
      const entries = await entriesOf(records, slots, root.number)
      // Meanwhile the watch may have reported what is newer.
      if ((entries.at(-1)?.number ?? root.number) >= state.place.number) state.start(snapshot, root.storeId, entries)
      return root
    } catch (error) {
      const mayBeNewer = error instanceof PartMissing || error instanceof NotFollowing
      if (!mayBeNewer || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

/**
 * The newest entries without a gap, in order.
 * @param number of the snapshot: later ones are all there, earlier ones as far back as they are complete
 */
async function entriesOf(records: Records, slots: Slots, number: number): Promise<readonly NumberedEntry[]> {
  const found = await records.list('slot')
  for (const record of found) slots.note(record)
  const newestFirst = found.map(({ spec }) => spec).sort((a, b) => b.number - a.number)
  const newest = newestFirst[0]?.number ?? 0
  const entries: NumberedEntry[] = []
  for (const [index, content] of newestFirst.entries()) {
    if (content.number !== newest - index) break
    const entry = await entryOf(records, content, content.number <= number)
    if (entry === null) break
    entries.push({ number: content.number, id: content.id, entry })
  }
  const first = entries.at(-1)?.number ?? newest + 1
  if (first > number + 1 || newest < number) throw new NotFollowing(`the log lacks entries after entry ${number}`)
  return entries.reverse()
}
