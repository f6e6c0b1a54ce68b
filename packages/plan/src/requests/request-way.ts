import { goesByServerName, readsRequests } from '@spout/model/protocols'
import {
  type AskedConnection,
  type AskedListener,
  explainListeners,
  type ListenerDecision,
} from './explain-listeners.ts'
import { type AskedRoute, explainRequest, type RouteDecision } from './explain-request.ts'
import { redirectLocation } from './redirect-location.ts'
import type { AskedRequest } from './request-conditions.ts'
import { requestShares } from './request-shares.ts'

type Forward = Extract<AskedRoute['action'], { readonly type: 'forward' }>
type PoolFilters = Forward['pools'][number]['filters']

/** A listener as `GET /load-balancers/{id}/explain` has it. */
export interface WayListener extends AskedListener {
  readonly id: string
  /** Its default pool. */
  readonly poolId: string | null
  /** The listener of its port that gets what none of its routes takes. */
  readonly others: { readonly id: string } | null
  readonly routes: readonly AskedRoute[]
}

/** A part of the requests: a pool gets them, or the proxy answers them with a code. A pool that is gone is null. */
export type WayShare<Pool> = { readonly percent: number } & (
  | { readonly is: 'pool'; readonly pool: Pool | null; readonly filters: PoolFilters }
  | { readonly is: 'answered'; readonly code: number }
)

/** Where the way of a request ends. */
export type WayEnd<Pool> =
  /** `forward` is the action of the route that takes the request; null for the listener's default pool. */
  | { readonly is: 'shares'; readonly shares: readonly WayShare<Pool>[]; readonly forward: Forward | null }
  | { readonly is: 'redirect'; readonly code: number; readonly location: string }
  | { readonly is: 'answer'; readonly code: number; readonly why: string }
  | { readonly is: 'closed'; readonly why: string }

/** One listener on the way: what its routes decide. */
export interface WayStep<Listener extends WayListener> {
  readonly listener: Listener
  /** Empty for listeners without routes. */
  readonly routes: readonly RouteDecision<Listener['routes'][number]>[]
  readonly taken: Listener['routes'][number] | null
  /** Whether a listener of the same port gets the connection, since no route here takes it. */
  readonly passesOn: boolean
}

export interface RequestWay<Listener extends WayListener, Pool> {
  readonly listeners: readonly ListenerDecision<Listener>[]
  /** More than one where a listener passes connections on. Empty: none takes the connection. */
  readonly steps: readonly WayStep<Listener>[]
  readonly end: WayEnd<Pool>
}

/** The way of a request through a load balancer: its listeners, the routes of these, and the pools at the end. Pure. */
export function requestWay<Listener extends WayListener, Pool extends { readonly id: string }>(
  { listeners: all, pools }: { readonly listeners: readonly Listener[]; readonly pools: readonly Pool[] },
  connection: AskedConnection,
  request: AskedRequest,
): RequestWay<Listener, Pool> {
  const listeners = explainListeners(all, connection)
  const taker = listeners.find(({ verdict }) => verdict === 'takes')?.listener
  if (taker === undefined) return { listeners, steps: [], end: { is: 'closed', why: whyNobody(listeners) } }
  const first = stepOf(taker, request)
  const next = first.passesOn ? all.find(({ id }) => id === taker.others?.id) : undefined
  const last = next === undefined ? first : stepOf(next, request)
  return { listeners, steps: last === first ? [first] : [first, last], end: endOf(last, pools, request) }
}

function whyNobody(listeners: readonly ListenerDecision<unknown>[]): string {
  const has = (wanted: ListenerDecision<unknown>['verdict']): boolean =>
    listeners.some(({ verdict }) => verdict === wanted)
  if (has('refuses')) return 'The listener does not admit this client: its packets are dropped.'
  if (has('disabled')) return 'The listener of this port is disabled.'
  if (has('other-transport')) return 'This port has a listener, but of another protocol.'
  return 'No listener has this port.'
}

function stepOf<Listener extends WayListener>(listener: Listener, request: AskedRequest): WayStep<Listener> {
  const { protocol } = listener
  const reads = readsRequests(protocol)
  if (!reads && !goesByServerName(protocol)) return { listener, routes: [], taken: null, passesOn: false }
  const seen = reads ? request : { ...request, method: null, path: null, query: '', headers: [] }
  const { routes, taken } = explainRequest<Listener['routes'][number]>(listener, seen)
  return { listener, routes, taken, passesOn: taken === null && listener.others !== null }
}

function endOf<Pool extends { readonly id: string }>(
  { listener: { protocol, poolId }, taken }: WayStep<WayListener>,
  pools: readonly Pool[],
  request: AskedRequest,
): WayEnd<Pool> {
  const found = (id: string): Pool | null => pools.find((pool) => pool.id === id) ?? null
  if (protocol === 'metrics')
    return { is: 'answer', code: 200, why: 'It answers with the figures of its load balancer.' }
  if (taken === null) return defaultEnd(protocol, poolId === null ? undefined : found(poolId))
  const { action } = taken
  if (action.type === 'respond') return { is: 'answer', code: action.code, why: 'The route answers itself.' }
  if (action.type === 'redirect') {
    const location = redirectLocation(action, request, protocol === 'https' ? 'https' : 'http')
    return { is: 'redirect', code: action.code, location }
  }
  const shares = requestShares(action).map(
    (share): WayShare<Pool> =>
      share.is === 'answered'
        ? share
        : { is: 'pool', percent: share.percent, pool: found(share.poolId), filters: share.filters },
  )
  return { is: 'shares', shares, forward: action }
}

/** @param pool undefined: the listener has none */
function defaultEnd<Pool>(protocol: AskedListener['protocol'], pool: Pool | null | undefined): WayEnd<Pool> {
  if (pool !== undefined)
    return { is: 'shares', shares: [{ is: 'pool', percent: 100, pool, filters: undefined }], forward: null }
  const why = 'No route takes it, and the listener has no default pool.'
  return readsRequests(protocol) ? { is: 'answer', code: 503, why } : { is: 'closed', why }
}
