import type { BackendRef } from './references.ts'
import type { RouteObject } from './route.ts'

/** A rule of a TCPRoute, UDPRoute or TLSRoute, which distributes whole connections. Such a route has exactly one. */
export interface ConnectionRule {
  readonly name?: string
  readonly backendRefs?: readonly BackendRef[]
}

/** TCPRoute and UDPRoute of Gateway API v1.6, standard channel. */
export interface ConnectionRouteObject extends RouteObject {
  readonly spec: RouteObject['spec'] & { readonly rules?: readonly ConnectionRule[] }
}

/** TLSRoute of Gateway API v1.6, standard channel. */
export interface TlsRouteObject extends RouteObject {
  readonly spec: ConnectionRouteObject['spec'] & {
    /** Compared with the name that the client asks for (SNI, RFC 6066 section 3). */
    readonly hostnames?: readonly string[]
  }
}
