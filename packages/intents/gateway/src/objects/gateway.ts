import type { Condition, KubeObject, LabelSelector } from '@spout/kube'
import type { ObjectRef } from './references.ts'

/** Gateway of Gateway API v1.6, with the fields that are read or written here. */
export interface Gateway extends KubeObject {
  readonly spec: GatewaySpec
  readonly status?: GatewayStatus
}

export interface GatewaySpec {
  readonly gatewayClassName: string
  readonly listeners?: readonly GatewayListener[]
  /** An entry without a value asks for any address of its type. */
  readonly addresses?: readonly { readonly type?: string; readonly value?: string }[]
  /** The namespaces from which ListenerSets may attach; none by default. */
  readonly allowedListeners?: { readonly namespaces?: FromNamespaces }
  readonly infrastructure?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly parametersRef?: object
  }
  readonly tls?: GatewayTls
}

/** TLS settings of a whole Gateway: `frontend` for connections of clients, `backend` for connections to backends. */
export interface GatewayTls {
  readonly frontend?: {
    readonly default: FrontendTls
    readonly perPort?: readonly { readonly port: number; readonly tls: FrontendTls }[]
  }
  readonly backend?: { readonly clientCertificateRef?: ObjectRef }
}

/** For HTTPS listeners. Without `validation` clients are not asked for a certificate. */
export interface FrontendTls {
  readonly validation?: ClientValidation
}

export interface ClientValidation {
  /** ConfigMaps with `ca.crt`. */
  readonly caCertificateRefs: readonly ObjectRef[]
  /** AllowValidOnly when left out. */
  readonly mode?: 'AllowValidOnly' | 'AllowInsecureFallback'
}

export interface GatewayListener {
  /** Unique in the Gateway. */
  readonly name: string
  /** Empty or left out: all names. */
  readonly hostname?: string
  readonly port: number
  readonly protocol: string
  readonly tls?: ListenerTls
  readonly allowedRoutes?: AllowedRoutes
}

export interface ListenerTls {
  readonly mode?: 'Terminate' | 'Passthrough'
  readonly certificateRefs?: readonly ObjectRef[]
  readonly options?: Readonly<Record<string, string>>
}

export interface AllowedRoutes {
  readonly namespaces?: FromNamespaces
  readonly kinds?: readonly RouteGroupKind[]
}

export interface FromNamespaces {
  readonly from?: 'All' | 'Selector' | 'Same' | 'None'
  readonly selector?: LabelSelector | undefined
}

/** RouteGroupKind of Gateway API: a kind of routes that a listener admits. */
export interface RouteGroupKind {
  readonly group?: string
  readonly kind: string
}

export interface GatewayStatus {
  readonly addresses?: readonly { readonly type?: string; readonly value?: string }[]
  readonly conditions?: readonly Condition[]
  readonly listeners?: readonly ListenerStatus[]
  readonly attachedListenerSets?: number
}

export interface ListenerStatus {
  readonly name: string
  readonly supportedKinds: readonly RouteGroupKind[]
  readonly attachedRoutes: number
  readonly conditions: readonly Condition[]
}
