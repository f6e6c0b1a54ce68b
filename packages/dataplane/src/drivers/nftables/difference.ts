import { identityBytes, recordBytes, type SetShape } from './sets.ts'

/** Records to delete (identities alone) and to add, packed. A changed value is in both. */
export interface SetDifference {
  readonly deletes: Buffer
  readonly adds: Buffer
}

const NONE = Buffer.alloc(0)

/** What turns the packed records `before` into `after`. Records that are in both with the same bytes are left alone. */
export function difference(shape: SetShape, before: Buffer = NONE, after: Buffer = NONE): SetDifference {
  // A bulk load is all additions: no key is looked at.
  if (before.length === 0) return { deletes: NONE, adds: after }
  if (before.equals(after)) return { deletes: NONE, adds: NONE }
  const size = recordBytes(shape)
  const identity = identityBytes(shape)
  const old = new Map<string, number>()
  for (let at = 0; at < before.length; at += size) old.set(before.toString('latin1', at, at + identity), at)
  const adds: Buffer[] = []
  for (let at = 0; at < after.length; at += size) {
    const key = after.toString('latin1', at, at + identity)
    const was = old.get(key)
    if (was !== undefined && after.compare(before, was, was + size, at, at + size) === 0) old.delete(key)
    else adds.push(after.subarray(at, at + size))
  }
  const deletes = Array.from(old.values(), (at) => before.subarray(at, at + identity))
  return { deletes: Buffer.concat(deletes), adds: Buffer.concat(adds) }
}
