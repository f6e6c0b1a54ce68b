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

/** `pool` as `Service.pool`: its share of the requests gets 503 where it is null. */
export interface NodeForward {
  readonly type: 'forward'
  readonly pools: readonly {
    readonly pool: number | null
    readonly weight: number
    /** Filters for this share alone. Absent: none. */
    readonly filters?: readonly RouteFilter[]
  }[]
  /** A share that is answered with this code. Absent: none. */
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
  /** Decides whether a request may go on; a null pool lets none. Absent: all may. */
  readonly authorizer?: NodeAuthorizer
  /** Only these users may go on; null: their list is gone, and nobody may. Absent: all may. */
  readonly basicAuthentication?: NodeBasicAuthentication
  /** Which of the two must let a request in. Absent: both. */
  readonly satisfy?: 'all' | 'any'
  /** Pools that get copies of this share of the requests; null: one that is not there. Absent: none. */
  readonly mirrors?: readonly { readonly pool: number | null; readonly percent: number }[]
}

/** `pool` is asked. */
export interface NodeAuthorizer extends Omit<RouteAuthorizer, 'poolId'> {
  readonly pool: number | null
}

export interface NodeBasicAuthentication extends Omit<BasicAuthentication, 'usersId'> {
  readonly users: NodeCertificate | null
}
