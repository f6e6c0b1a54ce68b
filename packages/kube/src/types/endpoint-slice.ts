import type { KubeObject, ObjectReference } from './object-meta.ts'
import type { Protocol } from './service.ts'

/** Label of an EndpointSlice: the name of its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

/** discovery.k8s.io/v1 EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN'
  readonly endpoints?: readonly Endpoint[] | null
  readonly ports?: readonly EndpointPort[] | null
}

export interface Endpoint {
  /** Kubernetes uses only the first one. */
  readonly addresses: readonly string[]
  readonly conditions?: EndpointConditions
  readonly hostname?: string
  readonly nodeName?: string
  readonly zone?: string
  readonly hints?: EndpointHints
  readonly targetRef?: ObjectReference
}

/** Left out means unknown: `ready` and `serving` count as true then, `terminating` as false. */
export interface EndpointConditions {
  readonly ready?: boolean
  readonly serving?: boolean
  readonly terminating?: boolean
}

export interface EndpointHints {
  readonly forZones?: readonly { readonly name: string }[]
  readonly forNodes?: readonly { readonly name: string }[]
}

export interface EndpointPort {
  /** The Service's port name; empty for a single unnamed port. */
  readonly name?: string
  readonly protocol?: Protocol
  /** Left out: all ports. */
  readonly port?: number
  readonly appProtocol?: string
}
