import type { HttpRouteFilter, NamedMatch } from './http-route.ts'
import type { BackendRef, ParentRef } from './references.ts'
import type { RouteObject } from './route.ts'

/** GRPCRoute of Gateway API v1.6, standard channel. */
export interface GrpcRouteObject extends RouteObject {
  readonly spec: GrpcRouteSpec
}

export interface GrpcRouteSpec {
  readonly parentRefs?: readonly ParentRef[]
  readonly hostnames?: readonly string[]
  readonly rules?: readonly GrpcRouteRule[]
}

export interface GrpcRouteRule {
  readonly name?: string
  /** Left out: the rule matches every request. */
  readonly matches?: readonly GrpcRouteMatch[]
  /** Of types RequestHeaderModifier, ResponseHeaderModifier, RequestMirror and ExtensionRef, as in HTTPRoutes. */
  readonly filters?: readonly HttpRouteFilter[]
  readonly backendRefs?: readonly GrpcBackendRef[]
}

export interface GrpcBackendRef extends BackendRef {
  readonly filters?: readonly HttpRouteFilter[]
}

export interface GrpcRouteMatch {
  readonly method?: GrpcMethodMatch
  readonly headers?: readonly NamedMatch[]
}

/** At least one of `service` and `method` is set. */
export interface GrpcMethodMatch {
  readonly type?: 'Exact' | 'RegularExpression'
  /** The service with its package, such as `shop.v1.Cart`; empty or left out: any. */
  readonly service?: string
  readonly method?: string
}
