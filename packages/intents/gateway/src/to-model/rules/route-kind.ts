import type { RouteContent } from '@spout/connector'
import type { Resource } from '@spout/kube'
import type { BackendRef } from '../../objects/references.ts'
import type { RouteObject } from '../../objects/route.ts'
import type { Backend, BackendProtocol } from '../backends/backends.ts'
import type { Objection } from '../fields/objection.ts'
import type { Precedence } from './precedence.ts'

/** The fields of a listener that compiling a route needs. */
export interface RouteListener {
  readonly name: string
  readonly protocol: string
  readonly port: number
}

export type ResolveBackend = (ref: BackendRef) => Backend | { readonly unresolved: Objection }

/** A route of the load balancer, with its sort key among those of its listener. */
export interface PlacedRoute {
  readonly precedence: Precedence
  readonly content: RouteContent
}

/** A backend and the weight of its share of the connections. */
export interface BackendShare {
  /** Null for a reference that does not resolve: its share is refused. */
  readonly backend: Backend | null
  readonly weight: number
}

/** The rules of a route, compiled for one listener. */
export interface CompiledRules {
  readonly routes: readonly PlacedRoute[]
  /** For a kind that takes a whole listener: the backends that share its connections. `routes` is empty then. */
  readonly shares?: readonly BackendShare[]
  /** Backends by the name of their pool. */
  readonly backends: ReadonlyMap<string, Backend>
  /** The rules that are dropped, by their index, with the reason. If no rule is left, the route is not accepted. */
  readonly dropped: ReadonlyMap<number, Objection>
  /** The first reference that does not resolve. */
  readonly unresolved: Objection | null
}

/** A kind of routes of Gateway API: all that attaching, compiling and writing statuses must know of it. */
export interface RouteKind<R extends RouteObject = RouteObject> {
  readonly kind: string
  readonly resource: Resource<R>
  /** Protocols of listeners that it may attach to. */
  readonly protocols: readonly string[]
  /** The kind with which it cannot share a host name of a listener: of two such routes only the older is accepted. */
  readonly rival?: string
  /** Whether a route takes all connections of its listener, so that only the oldest route is served there. */
  readonly takesWholeListener: boolean
  readonly backends: BackendProtocol
  /** The route's host names; empty when it takes those of the listener. */
  hostnamesOf(route: R): readonly string[]
  /** All references to backends, including those in filters. */
  backendRefsOf(route: R): readonly BackendRef[]
  /** Compiles the route for one listener. @param hosts the hosts that it serves there */
  compile(route: R, hosts: readonly string[], listener: RouteListener, resolve: ResolveBackend): CompiledRules
}
