import { SpoutError } from '@spout/model'
import type { Store, Write } from './store.ts'

/**
 * Copies the objects of these kinds into an empty store, in one commit: all are there afterwards, or none. Revisions are
 * new, so clients that watch list again.
 * @returns how many of each kind
 * @throws SpoutError AlreadyExists: the other store is not empty
 */
export async function copyObjects(
  from: Store,
  to: Store,
  kinds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const writes: Write[] = []
  for (const kind of kinds) {
    const [there] = (await to.list(kind)).items
    if (there !== undefined) throw new SpoutError('AlreadyExists', { what: kind, id: there.id })
    const { items } = await from.list(kind)
    counts.set(kind, items.length)
    for (const { id, scope, value } of items) writes.push({ op: 'put', kind, id, scope, value, ifRevision: 'absent' })
  }
  await to.commit(writes)
  return counts
}
