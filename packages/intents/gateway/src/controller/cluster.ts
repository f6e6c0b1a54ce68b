import type { EndpointSlice, Service } from '@spout/kube'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { HttpRouteObject, RouteParentStatus } from '../objects/http-route.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import type { Labels } from '../to-model/attachment.ts'

/** What changed, by key; grants and namespaces change seldom and for many at once. */
export type ClusterChange =
  | { readonly type: 'class' | 'gateway' | 'route' | 'service'; readonly key: string }
  | { readonly type: 'permissions' }

/** A Kubernetes cluster as the controller needs it: its objects in memory, and the few writes. */
export interface Cluster {
  /** Whether the first lists are complete. Nothing is decided before. */
  readonly ready: boolean
  onChange(listener: (change: ClusterChange) => void): () => void
  gatewayClass(name: string): GatewayClass | undefined
  classes(): Iterable<GatewayClass>
  /** @param key `namespace/name` */
  gateway(key: string): Gateway | undefined
  gateways(): Iterable<Gateway>
  route(key: string): HttpRouteObject | undefined
  routes(): Iterable<HttpRouteObject>
  grants(): readonly ReferenceGrant[]
  /** Null until the namespace was seen. */
  labelsOf(namespace: string): Labels | null
  service(key: string): Service | undefined
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  /** The Gateway is missing, but the deletion guard holds it. */
  isHeld(key: string): boolean
  /** @throws Error when that cannot be decided now */
  isGone(key: string, uid: string): Promise<boolean>
  /** Whether it has our finalizer and mark. */
  isClaimed(gateway: Gateway): boolean
  /** @throws Stale */
  claim(gateway: Gateway): Promise<void>
  /** A Gateway that is gone is no error. @throws Stale */
  release(gateway: Gateway): Promise<void>
  /** Each writes for the version that was read; an object that is gone is no error. @throws Stale */
  writeClass(gatewayClass: GatewayClass, status: GatewayClass['status']): Promise<void>
  writeGateway(gateway: Gateway, status: GatewayStatus): Promise<void>
  writeParents(route: HttpRouteObject, parents: readonly RouteParentStatus[]): Promise<void>
}
