import { type HttpRoute, sameJson } from '@spout/model'
import { listDifference } from '@spout/model/list-difference'
import { stepBetween } from '@spout/model/step-between'
import { type RouteContent, routeContentOf } from './route-content.ts'

/** A change of some routes of one listener. */
export interface RouteChange {
  readonly listenerId: string
  /**
   * New, changed and moved routes, in order. `before` is the id of the route that a new or moved route is placed
   * before; without it, a new route goes to the end.
   */
  readonly put: readonly (RouteContent & { readonly before?: string })[]
  /** Ids of routes. */
  readonly remove: readonly string[]
}

/** A cache: the content that a stored route was last found to equal. Both stay the same objects until they change. */
export type AlikeRoutes = WeakMap<HttpRoute, RouteContent>

/** Limit for the routes in one request. With more, replacing a short list costs no more. */
const MOST_CHANGES = 500
/** A document with longer lists may be larger than a request can be. */
const MOST_WHOLE = 2_000

/**
 * How the routes of a listener differ from the wanted ones. It is called often, with thousands of routes of which few
 * differ.
 * @returns null when they are equal; `whole` when a route moves to the end, names are not unique, or too many of a short
 * list differ
 */
export function routeChange(
  listenerId: string,
  routes: readonly HttpRoute[],
  wanted: readonly RouteContent[],
  poolNames: ReadonlyMap<string, string>,
  alike: AlikeRoutes = new WeakMap(),
): RouteChange | 'whole' | null {
  const isAsWanted = (route: HttpRoute, one: RouteContent): boolean => {
    if (alike.get(route) === one) return true
    if (route.name !== one.name || !sameJson(routeContentOf(route, poolNames), one)) return false
    alike.set(route, one)
    return true
  }
  let first = 0
  const shorter = Math.min(routes.length, wanted.length)
  while (first < shorter && isAsWanted(routes[first]!, wanted[first]!)) first++
  let [end, endWanted] = [routes.length, wanted.length]
  while (end > first && endWanted > first && isAsWanted(routes[end - 1]!, wanted[endWanted - 1]!)) {
    end--
    endWanted--
  }
  const [was, is] = [routes.slice(first, end), wanted.slice(first, endWanted)]
  if (was.length === 0 && is.length === 0) return null
  const few = changesHere(was, is, routes[end]?.id, isAsWanted)
  if (few !== null) return { listenerId, ...few }
  const names = new Set(is.map(({ name }) => name))
  const known = new Map(was.map((route) => [route.name, route]))
  if (names.size < is.length || known.size < was.length) return 'whole'
  const stays = was.filter(({ name }) => names.has(name))
  const staying = is.filter(({ name }) => known.has(name))
  const moved = new Set(
    listDifference(
      stays.map(({ name }) => name),
      staying.map(({ name }) => name),
    ).moved,
  )
  const put: RouteChange['put'][number][] = []
  let before = routes[end]?.id
  for (const one of is.toReversed()) {
    const route = known.get(one.name)
    if (route === undefined) put.push(before === undefined ? one : { ...one, before })
    else if (moved.has(one.name)) {
      // A change cannot express this: an existing route without `before` keeps its place.
      if (before === undefined) return 'whole'
      put.push({ ...one, before })
    } else {
      if (!isAsWanted(route, one)) put.push(one)
      before = route.id
    }
  }
  const remove = was.flatMap(({ id, name }) => (names.has(name) ? [] : [id]))
  if (put.length + remove.length > MOST_CHANGES && wanted.length <= MOST_WHOLE) return 'whole'
  return { listenerId, put: put.reverse(), remove }
}

type Changes = Pick<RouteChange, 'put' | 'remove'>

/** More changes than this are found with an index of all names. */
const FEW = 64

/**
 * The changes if a few routes came, went or changed and none moved. Null otherwise.
 * @param next the id of the route after these; undefined if there is none
 */
function changesHere(
  was: readonly HttpRoute[],
  is: readonly RouteContent[],
  next: string | undefined,
  isAsWanted: (route: HttpRoute, one: RouteContent) => boolean,
): Changes | null {
  const [put, come, gone]: [RouteChange['put'][number][], string[], HttpRoute[]] = [[], [], []]
  let [at, to] = [0, 0]
  while (at < was.length || to < is.length) {
    const [route, one] = [was[at], is[to]]
    if (put.length + gone.length > FEW) return null
    if (route !== undefined && one !== undefined && route.name === one.name) {
      if (!isAsWanted(route, one)) put.push(one)
      at++
      to++
      continue
    }
    const left = { before: was.length - at, after: is.length - to }
    const step = stepBetween(left, (goes, comes) => was[at + goes]?.name === is[to + comes]?.name)
    if (step === null) return null
    gone.push(...was.slice(at, at + step.gone))
    at += step.gone
    const before = was[at]?.id ?? next
    for (const end = to + step.come; to < end; to++) {
      const fresh = is[to]!
      put.push(before === undefined ? fresh : { ...fresh, before })
      come.push(fresh.name)
    }
  }
  const names = new Set(come)
  // A route that went and came has moved. Two routes cannot have the same name.
  if (names.size < come.length || gone.some(({ name }) => names.has(name))) return null
  return { put, remove: gone.map(({ id }) => id) }
}

/**
 * A change as several, each with as many routes as a request can have. Routes are put before others are removed, so that
 * no request in between finds neither.
 */
export function piecesOf({ listenerId, put, remove }: RouteChange): readonly RouteChange[] {
  const pieces: RouteChange[] = []
  for (let at = 0; at < put.length; at += MOST_CHANGES)
    pieces.push({ listenerId, put: put.slice(at, at + MOST_CHANGES), remove: [] })
  for (let at = 0; at < remove.length; at += MOST_CHANGES)
    pieces.push({ listenerId, put: [], remove: remove.slice(at, at + MOST_CHANGES) })
  return put.length + remove.length > MOST_CHANGES ? pieces : [{ listenerId, put, remove }]
}

/** The routes after a change. @param put the routes that were put, as the control plane answered them */
export function withRouteChange(
  routes: readonly HttpRoute[],
  { put: wanted, remove }: RouteChange,
  put: readonly HttpRoute[],
): readonly HttpRoute[] {
  const gone = new Set(remove)
  const changed = remove.length === 0 ? [...routes] : routes.filter(({ id }) => !gone.has(id))
  const made = new Map(put.map((route) => [route.name, route]))
  for (const { name, before } of wanted) {
    const route = made.get(name)
    if (route === undefined) continue
    const at = changed.findIndex(({ id }) => id === route.id)
    if (at >= 0 && before === undefined) changed[at] = route
    else {
      if (at >= 0) changed.splice(at, 1)
      const next = before === undefined ? -1 : changed.findIndex(({ id }) => id === before)
      changed.splice(next < 0 ? changed.length : next, 0, route)
    }
  }
  return changed
}
