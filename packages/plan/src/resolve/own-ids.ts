import { ListIndex, type LoadBalancer, listDifference } from '@spout/model'

/** The parts of a document that have ids. */
export type IdentifiedParts = Pick<LoadBalancer, 'listeners' | 'pools'>

interface Part {
  readonly id: string
}

const idsOf = new ListIndex<Part>(({ id }) => id)

/** In a list with more items, a few ids are looked up; others are looked for in one walk. */
const LONG = 64
/** The most ids that are looked up. */
const FEW = 16

/**
 * Whether no id occurs twice among listeners, routes, pools, members and monitors. It costs less than the paths of
 * thousands of routes, which only an error needs.
 * @param resolved an earlier version in which no id occurs twice. Parts that both versions share are then compared only
 * with new parts. Null: there is none.
 */
export function haveOwnIds(document: IdentifiedParts, resolved: IdentifiedParts | null): boolean {
  const come = resolved === null ? null : partsSince(resolved, document)
  const ids = new Set<string>(come?.map(({ id }) => id))
  let count = 0
  if (come === null) {
    for (const list of listsOf(document)) for (const { id } of list) ids.add(id)
    for (const list of listsOf(document)) count += list.length
    return ids.size === count
  }
  for (const list of listsOf(document))
    if (list.length > LONG && ids.size <= FEW) for (const id of ids) count += idsOf.count(list, id)
    else for (const { id } of list) if (ids.has(id)) count++
  return ids.size === come.length && count === come.length
}

function* listsOf({ listeners, pools }: IdentifiedParts): Generator<readonly Part[]> {
  yield listeners
  for (const { routes } of listeners) yield routes
  yield pools
  for (const { members } of pools) yield members
  yield pools.flatMap(({ monitor }) => monitor ?? [])
}

/** The parts that are not objects of the earlier version. Null if one may occur twice. */
function partsSince(before: IdentifiedParts, after: IdentifiedParts): readonly Part[] | null {
  const [listeners, pools] = [added(before.listeners, after.listeners), added(before.pools, after.pools)]
  if (listeners === null || pools === null) return null
  const routesBefore = new Map(before.listeners.map(({ id, routes }) => [id, routes]))
  const poolsBefore = new Map(before.pools.map((pool) => [pool.id, pool]))
  const come: Part[] = [...listeners, ...pools]
  const lists = [
    ...listeners.map(({ id, routes }) => added<Part>(routesBefore.get(id) ?? [], routes)),
    ...pools.map(({ id, members }) => added<Part>(poolsBefore.get(id)?.members ?? [], members)),
  ]
  for (const list of lists) {
    if (list === null) return null
    for (const part of list) come.push(part)
  }
  for (const { id, monitor } of pools)
    if (monitor !== null && monitor !== poolsBefore.get(id)?.monitor) come.push(monitor)
  return come
}

/** The items that only the second list has. Null if it has one of the first list twice. */
function added<T extends Part>(was: readonly T[], is: readonly T[]): readonly T[] | null {
  const { gone, come } = listDifference(was, is)
  return is.length - come.length === was.length - gone.length ? come : null
}
