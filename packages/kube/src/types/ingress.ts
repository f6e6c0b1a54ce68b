import type { KubeObject } from './object-meta.ts'
import type { LoadBalancerStatus } from './service.ts'

/** networking.k8s.io/v1 Ingress. */
export interface Ingress extends KubeObject {
  readonly spec?: IngressSpec
  readonly status?: { readonly loadBalancer?: LoadBalancerStatus }
}

export interface IngressSpec {
  readonly ingressClassName?: string
  readonly defaultBackend?: IngressBackend
  readonly tls?: readonly IngressTls[]
  readonly rules?: readonly IngressRule[]
}

export interface IngressTls {
  readonly hosts?: readonly string[]
  readonly secretName?: string
}

export interface IngressRule {
  /** A host name, or a wildcard such as `*.example.com`, which matches one label. Left out: all hosts. */
  readonly host?: string
  readonly http?: { readonly paths?: readonly IngressPath[] }
}

export interface IngressPath {
  readonly path?: string
  readonly pathType?: 'Exact' | 'Prefix' | 'ImplementationSpecific'
  readonly backend: IngressBackend
}

/** One of the two is set. */
export interface IngressBackend {
  readonly service?: {
    readonly name: string
    /** One of the two is set. */
    readonly port?: { readonly name?: string; readonly number?: number }
  }
  readonly resource?: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
}

/** networking.k8s.io/v1 IngressClass. */
export interface IngressClass extends KubeObject {
  readonly spec?: {
    readonly controller?: string
    readonly parameters?: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
  }
}
