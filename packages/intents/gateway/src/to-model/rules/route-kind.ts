import type { RouteContent } from '@spout/connector'
import type { Resource } from '@spout/kube'
import type { BackendRef } from '../../objects/references.ts'
import type { RouteObject } from '../../objects/route.ts'
import type { Backend, BackendProtocol } from '../backends/backends.ts'
import type { Objection } from '../fields/objection.ts'
import type { Precedence } from './precedence.ts'

/** A listener that a route is attached to, as far as its rules go. */
export interface RouteListener {
  readonly name: string
  readonly protocol: string
  readonly port: number
}

export type ResolveBackend = (ref: BackendRef) => Backend | { readonly unresolved: Objection }

/** A route of the load balancer, and where it stands among the others of its listener. */
export interface PlacedRoute {
  readonly precedence: Precedence
  readonly content: RouteContent
}

/** A backend and its share of the connections. */
export interface BackendShare {
  /** Null for a reference that does not resolve: its share is refused. */
  readonly backend: Backend | null
  readonly weight: number
}

/** The rules of a route at one listener. */
export interface CompiledRules {
  readonly routes: readonly PlacedRoute[]
  /** Who gets the connections, for a kind whose route takes a whole listener. Then there are no routes. */
  readonly shares?: readonly BackendShare[]
  /** Backends by the name of their pool. */
  readonly backends: ReadonlyMap<string, Backend>
  /** Rules that are dropped, by their place. Without any route that is left, the route is not accepted. */
  readonly dropped: ReadonlyMap<number, Objection>
  /** The first reference that does not resolve. */
  readonly unresolved: Objection | null
}

/** A kind of routes of Gateway API, as attaching, compiling and statuses need it. */
export interface RouteKind<R extends RouteObject = RouteObject> {
  readonly kind: string
  readonly resource: Resource<R>
  /** Protocols of listeners that it may attach to. */
  readonly protocols: readonly string[]
  /** Kind of routes with which it shares no host name of a listener: of two such routes the older is accepted. */
  readonly rival?: string
  /** Whether it takes all connections of its listener, so that the oldest route has it. */
  readonly isAlone: boolean
  /** The protocol of its backends. */
  readonly backends: BackendProtocol
  /** Host names; empty for those of the listener. */
  hostnamesOf(route: R): readonly string[]
  /** All references to backends, those of filters included. */
  backendRefsOf(route: R): readonly BackendRef[]
  /** @param hosts the names that it has at the listener */
  compile(route: R, hosts: readonly string[], listener: RouteListener, resolve: ResolveBackend): CompiledRules
}
