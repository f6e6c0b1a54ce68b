/** Answers with at most this many objects, parts included, are made at once. */
const MOST_AT_ONCE = 500

/** How many objects it consists of: a load balancer has pools and members. */
const sizeOf = (object: object): number =>
  'pools' in object && Array.isArray(object.pools)
    ? object.pools.reduce((sum: number, pool: { readonly members?: readonly unknown[] }) => {
        return sum + 1 + (pool.members?.length ?? 0)
      }, 1)
    : 1

/** Whether these take so long to serialise that others must have turns meanwhile. */
export function areLong(objects: readonly object[]): boolean {
  let size = 0
  for (const object of objects) {
    size += sizeOf(object)
    if (size > MOST_AT_ONCE) return true
  }
  return false
}

/** How deep a document is split, as `jsonPieces` counts: load balancer, pools, pool, members. */
export const DOCUMENT_DEPTH = 4
