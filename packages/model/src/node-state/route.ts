import type { BasicAuthentication } from '../routes/basic-authentication.ts'
import type { RedirectAction, RespondAction } from '../routes/http-route.ts'
import type { RouteAuthorizer } from '../routes/route-authorizer.ts'
import type { RouteClientRate } from '../routes/route-client-rate.ts'
import type { RouteCondition } from '../routes/route-condition.ts'
import type { RouteFilter } from '../routes/route-filter.ts'
import type { RouteRetry } from '../routes/route-retry.ts'
import type { RouteTimeouts } from '../routes/route-timeouts.ts'
import type { NodeCertificate } from './certificate.ts'

export interface NodeRoute {
  /** The route's id in the model. */
  readonly id: string
  readonly conditions: readonly RouteCondition[]
  readonly action: NodeForward | RedirectAction | RespondAction
}

/** Forwards requests to pools, by `NodePool.number`. A null `pool` is one that cannot answer: its share gets 503. */
export interface NodeForward {
  readonly type: 'forward'
  readonly pools: readonly {
    readonly pool: number | null
    readonly weight: number
    /** Filters for this share alone. Absent: none. */
    readonly filters?: readonly RouteFilter[]
  }[]
  /** The share of requests that is answered with this code instead. Absent: none. */
  readonly answered?: { readonly code: number; readonly weight: number }
  /** Absent: none. */
  readonly filters?: readonly RouteFilter[]
  /** Absent: those of the service. */
  readonly timeouts?: RouteTimeouts
  /** Absent: none. */
  readonly retry?: RouteRetry
  /** Absent: none. */
  readonly clientRate?: RouteClientRate
  /** Absent: any number. */
  readonly clientConcurrency?: number
  /** Absent: any number. */
  readonly maxBodyBytes?: number
  /** The pool that decides whether a request is forwarded. With a null pool none is. Absent: all are. */
  readonly authorizer?: NodeAuthorizer
  /**
   * Only requests of these users are forwarded. If `users` is null, the list was deleted, and no request is. Absent:
   * all are.
   */
  readonly basicAuthentication?: NodeBasicAuthentication
  /** Whether the authorizer and the password must both admit a request (`all`), or one of them. Absent: both. */
  readonly satisfy?: 'all' | 'any'
  /** Pools that get copies of this percentage of the requests. `pool` null: the pool does not exist. Absent: none. */
  readonly mirrors?: readonly { readonly pool: number | null; readonly percent: number }[]
}

/** An authorizer whose pool is named by `NodePool.number`. */
export interface NodeAuthorizer extends Omit<RouteAuthorizer, 'poolId'> {
  readonly pool: number | null
}

export interface NodeBasicAuthentication extends Omit<BasicAuthentication, 'usersId'> {
  readonly users: NodeCertificate | null
}
