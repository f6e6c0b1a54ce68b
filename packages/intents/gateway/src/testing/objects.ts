import { keyOf } from '@spout/connector'
import type { Service } from '@spout/kube'
import type { Gateway, GatewayListener } from '../objects/gateway.ts'
import type { GrpcRouteObject, GrpcRouteSpec } from '../objects/grpc-route.ts'
import type { HttpRouteObject, HttpRouteSpec } from '../objects/http-route.ts'
import type { ListenerSet } from '../objects/listener-set.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import type { BackendRef } from '../objects/references.ts'
import type { RouteObject } from '../objects/route.ts'
import type { GatewaySurroundings } from '../to-model/gateways/compile-gateway.ts'
import { gatewayOfSet } from '../to-model/listeners/listener-parents.ts'

/** Small objects for tables of tests. */

const uid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** The certificate of each Secret `tls`; other Secrets do not exist. */
export const TLS_ID = uid(99)

export const gatewayWith = (listeners: readonly GatewayListener[], spec: object = {}, generation = 1): Gateway => ({
  metadata: { name: 'web', namespace: 'shop', uid: uid(1), generation },
  spec: { gatewayClassName: 'spout', listeners, ...spec },
})

/** A ListenerSet that names the Gateway of `gatewayWith`. */
export const setWith = (
  name: string,
  listeners: readonly GatewayListener[],
  { namespace = 'shop', number = 20, generation = 1, createdAt = '2026-01-01T00:00:00Z' } = {},
): ListenerSet => ({
  metadata: { name, namespace, uid: uid(number), generation, creationTimestamp: createdAt },
  spec: { parentRef: { name: 'web', namespace: 'shop' }, listeners },
})

export const http = (name: string, more: Partial<GatewayListener> = {}): GatewayListener => ({
  name,
  port: 80,
  protocol: 'HTTP',
  ...more,
})

/** A listener of any protocol. One of protocol TLS passes TLS on. */
export const listener = (
  name: string,
  protocol: string,
  port: number,
  more: Partial<GatewayListener> = {},
): GatewayListener => ({
  ...{ name, port, protocol },
  ...(protocol === 'TLS' && { tls: { mode: 'Passthrough' } }),
  ...more,
})

/** A TCPRoute, UDPRoute or TLSRoute with one rule. */
export const connectionRoute = (
  kind: 'TLSRoute' | 'TCPRoute' | 'UDPRoute',
  backendRefs: readonly BackendRef[],
  metadata: { name?: string; number?: number; createdAt?: string } = {},
  spec: object = {},
): RouteObject => ({ ...routeWith({ rules: [{ backendRefs }], ...spec }, metadata), kind })

export const routeWith = (
  spec: Partial<HttpRouteSpec>,
  { name = 'r', namespace = 'shop', number = 2, createdAt = '2026-01-01T00:00:00Z' } = {},
): HttpRouteObject => ({
  kind: 'HTTPRoute',
  metadata: { name, namespace, uid: uid(number), generation: 1, creationTimestamp: createdAt },
  spec: { parentRefs: [{ name: 'web', namespace: 'shop' }], ...spec },
})

export const grpcRouteWith = (
  spec: Partial<GrpcRouteSpec>,
  options: Parameters<typeof routeWith>[1] = {},
): GrpcRouteObject => ({
  ...routeWith({}, options),
  kind: 'GRPCRoute',
  spec: { parentRefs: [{ name: 'web', namespace: 'shop' }], ...spec },
})

/** A reference to a port 8080. */
export const to = (name: string, more: object = {}) => ({ name, port: 8080, ...more })

export const serviceOf = (name: string, spec: object = {}, namespace = 'shop'): Service => ({
  metadata: { name, namespace },
  spec: { ports: [{ name: 'http', port: 8080, targetPort: 3000 }], ...spec },
})

export const grantOf = (
  namespace: string,
  from: string,
  to: { kind: string; name?: string; group?: string },
): ReferenceGrant => ({
  metadata: { name: 'g', namespace },
  spec: {
    from: ['HTTPRoute', 'GRPCRoute', 'Gateway'].map((kind) => ({
      group: 'gateway.networking.k8s.io',
      kind,
      namespace: from,
    })),
    to: [{ group: '', ...to }],
  },
})

/** Services by `namespace/name`, with one endpoint each. */
export function surroundingsOf(
  services: readonly Service[] = [],
  grants: readonly ReferenceGrant[] = [],
  labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  sets: readonly ListenerSet[] = [],
): GatewaySurroundings {
  const byKey = new Map(services.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]))
  return {
    cluster: 'c1',
    domains: [],
    service: (key) => byKey.get(key),
    grants,
    certificateOf: (key) =>
      key.endsWith('/tls')
        ? { type: 'ready', certificate: { id: TLS_ID, name: key, tags: [], names: [] }, notice: null }
        : { type: 'refused', refusal: { reason: 'SecretNotFound', field: 'secret', message: 'There is none.' } },
    labelsOf: (namespace) => labels[namespace] ?? null,
    listenerSet: (key) => sets.find((one) => keyOf(one) === key),
    listenerSetsOf: (gateway) => sets.filter((one) => gatewayOfSet(one) === gateway),
    poolOf: (name, { protocol }) => ({
      pool: {
        name,
        protocol,
        persistence: null,
        panicThreshold: 10,
        drainSeconds: 300,
        members: [{ name: 'pod', address: '10.128.0.1', port: 3000, weight: 1, monitorPort: null }],
        monitor: null,
      },
      leftOut: 0,
    }),
  }
}
