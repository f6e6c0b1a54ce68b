import { NAMESPACES, type Resource } from '@spout/kube'
import type { BackendTlsPolicyObject } from './backend-tls-policy.ts'
import type { ConnectionRouteObject, TlsRouteObject } from './connection-routes.ts'
import type { Gateway } from './gateway.ts'
import type { GatewayClass } from './gateway-class.ts'
import type { GrpcRouteObject } from './grpc-route.ts'
import type { HttpRouteObject } from './http-route.ts'
import type { ListenerSet } from './listener-set.ts'
import type { ReferenceGrant } from './reference-grant.ts'

const apiVersion = 'gateway.networking.k8s.io/v1'

export const GATEWAY_CLASSES: Resource<GatewayClass> = {
  apiVersion,
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
}
export const GATEWAYS: Resource<Gateway> = { apiVersion, kind: 'Gateway', plural: 'gateways', namespaced: true }
export const LISTENER_SETS: Resource<ListenerSet> = {
  apiVersion,
  kind: 'ListenerSet',
  plural: 'listenersets',
  namespaced: true,
}
export const HTTP_ROUTES: Resource<HttpRouteObject> = {
  apiVersion,
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
}
export const BACKEND_TLS_POLICIES: Resource<BackendTlsPolicyObject> = {
  apiVersion,
  kind: 'BackendTLSPolicy',
  plural: 'backendtlspolicies',
  namespaced: true,
}
export const GRPC_ROUTES: Resource<GrpcRouteObject> = {
  apiVersion,
  kind: 'GRPCRoute',
  plural: 'grpcroutes',
  namespaced: true,
}
export const TLS_ROUTES: Resource<TlsRouteObject> = {
  apiVersion,
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  namespaced: true,
}
export const TCP_ROUTES: Resource<ConnectionRouteObject> = {
  apiVersion,
  kind: 'TCPRoute',
  plural: 'tcproutes',
  namespaced: true,
}
export const UDP_ROUTES: Resource<ConnectionRouteObject> = {
  apiVersion,
  kind: 'UDPRoute',
  plural: 'udproutes',
  namespaced: true,
}
export const REFERENCE_GRANTS: Resource<ReferenceGrant> = {
  apiVersion,
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  namespaced: true,
}

/**
 * The kinds that the cluster must have, and let us read, before Gateways are served. The other kinds may be installed
 * later.
 */
export const NEEDED_KINDS: readonly Resource[] = [GATEWAY_CLASSES, GATEWAYS, HTTP_ROUTES, REFERENCE_GRANTS, NAMESPACES]
