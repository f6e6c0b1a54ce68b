import { identityBytes, recordBytes, type SetShape } from './sets.ts'

/** Packed records to delete (identities only) and to add. A changed value is in both. */
export interface SetDifference {
  readonly deletes: Buffer
  readonly adds: Buffer
}

const NONE = Buffer.alloc(0)
/** Records that are compared at once. */
const STRIDE = 64

/** The difference between the packed records `before` and `after`. Identical records are in neither list. */
export function difference(shape: SetShape, before: Buffer = NONE, after: Buffer = NONE): SetDifference {
  // A bulk load only adds, so no key is compared.
  if (before.length === 0) return { deletes: NONE, adds: after }
  if (before.equals(after)) return { deletes: NONE, adds: NONE }
  return inPlace(shape, before, after) ?? byIdentity(shape, before, after)
}

/** The difference if the same keys are in the same places, as in a slot table; null otherwise. */
function inPlace(shape: SetShape, before: Buffer, after: Buffer): SetDifference | null {
  if (before.length !== after.length) return null
  const size = recordBytes(shape)
  const identity = identityBytes(shape)
  const [deletes, adds]: [Buffer[], Buffer[]] = [[], []]
  for (let start = 0; start < after.length; start += STRIDE * size) {
    const end = Math.min(start + STRIDE * size, after.length)
    if (after.compare(before, start, end, start, end) === 0) continue
    for (let at = start; at < end; at += size) {
      if (!isSame(before, at, after, at, identity)) return null
      if (isSame(before, at + identity, after, at + identity, size - identity)) continue
      deletes.push(before.subarray(at, at + identity))
      adds.push(after.subarray(at, at + size))
    }
  }
  return { deletes: Buffer.concat(deletes), adds: Buffer.concat(adds) }
}

function byIdentity(shape: SetShape, before: Buffer, after: Buffer): SetDifference {
  const size = recordBytes(shape)
  const identity = identityBytes(shape)
  const shorter = Math.min(before.length, after.length)
  let first = 0
  while (first < shorter && isSame(before, first, after, first, size)) first += size
  let [lastBefore, lastAfter] = [before.length, after.length]
  while (lastBefore > first && lastAfter > first && isSame(before, lastBefore - size, after, lastAfter - size, size)) {
    lastBefore -= size
    lastAfter -= size
  }
  const old = new Map<string, number>()
  for (let at = first; at < lastBefore; at += size) old.set(before.toString('latin1', at, at + identity), at)
  const adds: Buffer[] = []
  for (let at = first; at < lastAfter; at += size) {
    const key = after.toString('latin1', at, at + identity)
    const was = old.get(key)
    if (was !== undefined && isSame(before, was, after, at, size)) old.delete(key)
    else adds.push(after.subarray(at, at + size))
  }
  const deletes = Array.from(old.values(), (at) => before.subarray(at, at + identity))
  return { deletes: Buffer.concat(deletes), adds: Buffer.concat(adds) }
}

/** Byte by byte, since a call into the runtime costs more for so few. */
function isSame(a: Buffer, atA: number, b: Buffer, atB: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[atA + at] !== b[atB + at]) return false
  return true
}
