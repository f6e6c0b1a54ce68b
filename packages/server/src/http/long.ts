/** Answers with at most this many objects, parts included, are made at once. */
const MOST_AT_ONCE = 500

interface Part {
  readonly members?: readonly unknown[]
  readonly routes?: readonly unknown[]
}

/** How many objects it consists of: a load balancer has listeners with routes, and pools with members. */
const sizeOf = ({ pools, listeners }: { readonly pools?: unknown; readonly listeners?: unknown }): number =>
  [pools, listeners]
    .flatMap((parts): readonly Part[] => (Array.isArray(parts) ? parts : []))
    .reduce((sum, { members, routes }) => sum + 1 + (members?.length ?? 0) + (routes?.length ?? 0), 1)

/** Whether these take so long to serialise that others must have turns meanwhile. */
export function areLong(objects: readonly object[]): boolean {
  let size = 0
  for (const object of objects) {
    size += sizeOf(object)
    if (size > MOST_AT_ONCE) return true
  }
  return false
}

/** How deep a document is split, as `jsonPieces` counts: load balancer, pools, pool, members; or down to routes. */
export const DOCUMENT_DEPTH = 4
