import type { Condition, KubeObject } from '@spout/kube'
import type { ObjectRef, ParentRef } from './references.ts'

/** BackendTLSPolicy of Gateway API v1.6: how a Gateway speaks TLS with the endpoints of Services of its namespace. */
export interface BackendTlsPolicyObject extends KubeObject {
  readonly spec: BackendTlsPolicySpec
  readonly status?: { readonly ancestors: readonly PolicyAncestorStatus[] }
}

export interface BackendTlsPolicySpec {
  readonly targetRefs: readonly PolicyTarget[]
  readonly validation: {
    /** ConfigMaps with `ca.crt`. */
    readonly caCertificateRefs?: readonly ObjectRef[]
    readonly wellKnownCACertificates?: string
    /** The name that is sent as SNI. The certificate of the backend must be valid for it. */
    readonly hostname: string
    readonly subjectAltNames?: readonly { readonly type: string; readonly hostname?: string; readonly uri?: string }[]
  }
}

export interface PolicyTarget {
  readonly group: string
  readonly kind: string
  readonly name: string
  /** The name of a port of the Service. Left out: all ports that no other policy names. */
  readonly sectionName?: string
}

/** What one controller reports about a policy at one Gateway. */
export interface PolicyAncestorStatus {
  readonly ancestorRef: ParentRef
  readonly controllerName: string
  readonly conditions?: readonly Condition[]
}
