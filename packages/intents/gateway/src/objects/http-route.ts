import type { BackendRef, ParentRef } from './references.ts'
import type { RouteObject } from './route.ts'

/** HTTPRoute of Gateway API v1.6, standard channel, and `retry` of the experimental one. */
export interface HttpRouteObject extends RouteObject {
  readonly spec: HttpRouteSpec
}

export interface HttpRouteSpec {
  readonly parentRefs?: readonly ParentRef[]
  readonly hostnames?: readonly string[]
  readonly rules?: readonly HttpRouteRule[]
}

export interface HttpRouteRule {
  readonly name?: string
  /** Left out: the rule matches every request. */
  readonly matches?: readonly HttpRouteMatch[]
  readonly filters?: readonly HttpRouteFilter[]
  readonly backendRefs?: readonly HttpBackendRef[]
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string }
  readonly retry?: { readonly codes?: readonly number[]; readonly attempts?: number; readonly backoff?: string }
}

export interface HttpBackendRef extends BackendRef {
  readonly filters?: readonly HttpRouteFilter[]
}

export interface HttpRouteMatch {
  readonly path?: { readonly type?: 'Exact' | 'PathPrefix' | 'RegularExpression'; readonly value?: string }
  readonly headers?: readonly NamedMatch[]
  readonly queryParams?: readonly NamedMatch[]
  readonly method?: string
}

export interface NamedMatch {
  readonly type?: 'Exact' | 'RegularExpression'
  readonly name: string
  readonly value: string
}

export interface HeaderModifier {
  readonly set?: readonly { readonly name: string; readonly value: string }[]
  readonly add?: readonly { readonly name: string; readonly value: string }[]
  readonly remove?: readonly string[]
}

export interface PathModifier {
  readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch'
  readonly replaceFullPath?: string
  readonly replacePrefixMatch?: string
}

export interface HttpRouteFilter {
  readonly type: string
  readonly requestHeaderModifier?: HeaderModifier
  readonly responseHeaderModifier?: HeaderModifier
  readonly requestMirror?: {
    readonly backendRef: BackendRef
    readonly percent?: number
    readonly fraction?: { readonly numerator: number; readonly denominator?: number }
  }
  readonly requestRedirect?: {
    readonly scheme?: string
    readonly hostname?: string
    readonly path?: PathModifier
    readonly port?: number
    readonly statusCode?: number
  }
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathModifier }
  readonly cors?: {
    readonly allowOrigins?: readonly string[]
    readonly allowCredentials?: boolean
    readonly allowMethods?: readonly string[]
    readonly allowHeaders?: readonly string[]
    readonly exposeHeaders?: readonly string[]
    readonly maxAge?: number
  }
}
