import {
  type BasicAuthentication,
  type HttpRoute,
  isFiltered,
  type NodeAuthorizer,
  type NodeBasicAuthentication,
  type NodeCertificate,
  type NodeRoute,
  type RouteAuthorizer,
  type Service,
  userListIds,
} from '@spout/model'
import { stretchesOf } from '@spout/model/list-difference'
import { type CertificateOf, nodeCertificate } from './node-tls.ts'

/** The numbers of the pools that nodes get, by pool id. */
type PoolNumbers = ReadonlyMap<string, number>

/** The present versions of lists of users, by id. Null: the list was deleted. */
type UserLists = ReadonlyMap<string, NodeCertificate | null>

/**
 * A cache of planned routes. Equal routes and lists of them are reused as the same objects, which makes comparing them
 * cheap.
 */
export interface KnownNodeRoutes {
  readonly ofRoutes: WeakMap<HttpRoute, NodeRoute>
  /** What each list of planned routes was planned from. */
  readonly sources: WeakMap<
    readonly NodeRoute[],
    { readonly routes: readonly HttpRoute[]; readonly numbers: PoolNumbers; readonly users: UserLists }
  >
}

export const knownNodeRoutes = (): KnownNodeRoutes => ({ ofRoutes: new WeakMap(), sources: new WeakMap() })

/**
 * Plans a listener's routes for nodes, in their order, without disabled ones.
 * @param before the list that nodes have. Its unchanged routes are reused; the result does not depend on it otherwise
 * @param known the same, for routes that nodes had earlier. New routes are added to it
 */
export function planRoutes(
  routes: readonly HttpRoute[],
  numbers: PoolNumbers,
  before: readonly NodeRoute[] = [],
  known: KnownNodeRoutes = knownNodeRoutes(),
  certificateOf: CertificateOf = () => null,
): Pick<Service, 'routes'> {
  const users: UserLists = new Map(userListIds(routes).map((id) => [id, nodeCertificate(id, certificateOf)]))
  const source = known.sources.get(before)
  const has =
    source && sameNumbers(source.numbers, numbers) && sameLists(source.users, users) ? source.routes : NO_ROUTES
  if (has === routes && before.length > 0) return { routes: before }
  const planned: NodeRoute[] = []
  const plan = (route: HttpRoute): void => {
    if (!route.enabled) return
    const had = known.ofRoutes.get(route)
    const now = had !== undefined && isAsPlanned(had, route, numbers, users) ? had : nodeRoute(route, numbers, users)
    if (now !== had) known.ofRoutes.set(route, now)
    planned.push(now)
  }
  // Where all are enabled, both lists have the same places.
  const stretches = has.length === before.length ? stretchesOf(has, routes) : null
  if (stretches === null) routes.forEach(plan)
  else
    for (const { at, count, from } of stretches)
      if (from === null) routes.slice(at, at + count).forEach(plan)
      else for (let place = from; place < from + count; place++) planned.push(before[place]!)
  if (planned.length === 0) return {}
  // All who compare it with the list before share what the first of them finds.
  Object.freeze(planned)
  known.sources.set(planned, { routes, numbers, users })
  return { routes: planned }
}

const sameNumbers = (a: PoolNumbers, b: PoolNumbers): boolean =>
  a.size === b.size && a.entries().every(([id, number]) => b.get(id) === number)

const NO_ROUTES: readonly HttpRoute[] = []

/**
 * Compares the versions of lists that both have. A list that only one has is named only by routes that differ anyway.
 */
const sameLists = (a: UserLists, b: UserLists): boolean =>
  a.entries().every(([id, list]) => !b.has(id) || b.get(id)?.contentId === list?.contentId)

/** Whether the route's pools still have the numbers, and its list of users the content, that it was planned with. */
function isAsPlanned(
  planned: NodeRoute,
  { action }: HttpRoute,
  numbers: ReadonlyMap<string, number>,
  users: UserLists,
): boolean {
  if (action.type !== 'forward' || planned.action.type !== 'forward') return true
  for (let at = 0; at < action.pools.length; at++)
    if ((numbers.get(action.pools[at]!.poolId) ?? null) !== planned.action.pools[at]!.pool) return false
  const { authorizer, basicAuthentication } = action
  const list = basicAuthentication && users.get(basicAuthentication.usersId)
  if (list?.contentId !== planned.action.basicAuthentication?.users?.contentId) return false
  if (authorizer && (numbers.get(authorizer.poolId) ?? null) !== planned.action.authorizer?.pool) return false
  for (const [at, { poolId }] of (action.mirrors ?? []).entries())
    if ((numbers.get(poolId) ?? null) !== planned.action.mirrors?.[at]?.pool) return false
  return true
}

const nodeAuthorizer = ({ poolId, ...others }: RouteAuthorizer, numbers: PoolNumbers): NodeAuthorizer => ({
  ...others,
  pool: numbers.get(poolId) ?? null,
})

const nodeBasicAuthentication = (
  { realm, usersId }: BasicAuthentication,
  users: UserLists,
): NodeBasicAuthentication => ({ realm, users: users.get(usersId) ?? null })

const nodeRoute = ({ id, conditions, action }: HttpRoute, numbers: PoolNumbers, users: UserLists): NodeRoute => ({
  id,
  conditions,
  action:
    action.type === 'forward'
      ? {
          type: 'forward',
          pools: action.pools.map(({ poolId, weight, filters }) => ({
            ...{ pool: numbers.get(poolId) ?? null, weight },
            ...(filters !== undefined && { filters }),
          })),
          ...(action.answered !== undefined && { answered: action.answered }),
          ...(isFiltered(action) && { filters: action.filters }),
          ...(action.timeouts !== undefined && { timeouts: action.timeouts }),
          ...(action.retry !== undefined && { retry: action.retry }),
          ...(action.clientRate !== undefined && { clientRate: action.clientRate }),
          ...(action.clientConcurrency !== undefined && { clientConcurrency: action.clientConcurrency }),
          ...(action.maxBodyBytes !== undefined && { maxBodyBytes: action.maxBodyBytes }),
          ...(action.authorizer !== undefined && { authorizer: nodeAuthorizer(action.authorizer, numbers) }),
          ...(action.basicAuthentication !== undefined && {
            basicAuthentication: nodeBasicAuthentication(action.basicAuthentication, users),
          }),
          ...(action.satisfy !== undefined && { satisfy: action.satisfy }),
          ...(action.mirrors !== undefined && {
            mirrors: action.mirrors.map(({ poolId, percent }) => ({ pool: numbers.get(poolId) ?? null, percent })),
          }),
        }
      : action,
})
