/** Objects, with their parts, up to which an answer is made at once. */
const MOST_AT_ONCE = 500

/** Objects below this one and itself: a load balancer has pools and members. */
const sizeOf = (object: object): number =>
  'pools' in object && Array.isArray(object.pools)
    ? object.pools.reduce((sum: number, pool: { readonly members?: readonly unknown[] }) => {
        return sum + 1 + (pool.members?.length ?? 0)
      }, 1)
    : 1

/** Whether these take so long to write that others must have their turn meanwhile. */
export function areLong(objects: readonly object[]): boolean {
  let size = 0
  for (const object of objects) {
    size += sizeOf(object)
    if (size > MOST_AT_ONCE) return true
  }
  return false
}

/** How deep a document is taken apart, as `jsonPieces` counts: a load balancer, its pools, one, its members. */
export const DOCUMENT_DEPTH = 4
