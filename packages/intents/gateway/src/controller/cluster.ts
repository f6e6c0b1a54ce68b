import type { EndpointSlice, Service } from '@spout/kube'
import type { BackendTlsPolicyObject, PolicyAncestorStatus } from '../objects/backend-tls-policy.ts'
import type { Gateway, GatewayStatus } from '../objects/gateway.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import type { ListenerSet, ListenerSetStatus } from '../objects/listener-set.ts'
import type { ReferenceGrant } from '../objects/reference-grant.ts'
import type { RouteObject, RouteParentStatus } from '../objects/route.ts'
import type { Labels } from '../to-model/listeners/listener-parents.ts'

/**
 * What changed: the key of an object, or the id of a route. Grants and namespaces change seldom and affect many
 * objects, so they have no key.
 */
export type ClusterChange =
  | { readonly type: 'class' | 'gateway' | 'listener-set' | 'route' | 'service' | 'policy'; readonly key: string }
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
  /** Whether the Gateway exists but belongs to another project, or may. */
  isElsewhere(key: string): boolean
  /** @param key `namespace/name` */
  listenerSet(key: string): ListenerSet | undefined
  listenerSets(): Iterable<ListenerSet>
  /** The ListenerSets that name a Gateway, in any order. */
  listenerSetsOf(gateway: string): readonly ListenerSet[]
  /** @param id `kind/namespace/name` */
  route(id: string): RouteObject | undefined
  /** Routes of all kinds that the cluster has. */
  routes(): Iterable<RouteObject>
  grants(): readonly ReferenceGrant[]
  policy(key: string): BackendTlsPolicyObject | undefined
  /** The policies that target a Service. */
  policiesOf(service: string): readonly BackendTlsPolicyObject[]
  /** Null until the namespace has been seen. */
  labelsOf(namespace: string): Labels | null
  service(key: string): Service | undefined
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  /** The Gateway is missing, but the deletion guard holds it. */
  isHeld(key: string): boolean
  /** Asks the API server whether the Gateway of this UID is gone. @throws Error when it cannot be asked now */
  isGone(key: string, uid: string): Promise<boolean>
  /** Whether it has our finalizer and mark. */
  isClaimed(gateway: Gateway): boolean
  /** Puts our finalizer and mark on the Gateway. @throws Stale when it has changed since it was read */
  claim(gateway: Gateway): Promise<void>
  /** Takes our finalizer and mark off. @throws Stale when the Gateway has changed since it was read, or is gone */
  release(gateway: Gateway): Promise<void>
  /** Each status is written for the version that was read. An object that is gone is no error. @throws Stale */
  writeClass(gatewayClass: GatewayClass, status: GatewayClass['status']): Promise<void>
  writeGateway(gateway: Gateway, status: GatewayStatus): Promise<void>
  writeListenerSet(set: ListenerSet, status: ListenerSetStatus): Promise<void>
  writeAncestors(policy: BackendTlsPolicyObject, ancestors: readonly PolicyAncestorStatus[]): Promise<void>
  writeParents(route: RouteObject, parents: readonly RouteParentStatus[]): Promise<void>
}
