import type { EndpointSlice, Ingress, IngressClass, ObjectEvent, Service } from '@spout/kube'
import type { ConfigMapSight } from '../to-model/custom-headers.ts'

/** What changed: an Ingress, a Service or its EndpointSlices, a ConfigMap that is named, by key; or the IngressClasses. */
export type ClusterChange =
  | { readonly type: 'ingress' | 'backend' | 'config-map'; readonly key: string }
  | { readonly type: 'classes' }

/** A Kubernetes cluster as the controller needs it: its objects in memory, and the few writes. */
export interface Cluster {
  /** Whether the first lists are complete. Nothing is decided before. */
  readonly ready: boolean
  onChange(listener: (change: ClusterChange) => void): () => void
  /** `namespace/name`; undefined when there is none. */
  ingress(key: string): Ingress | undefined
  ingresses(): Iterable<Ingress>
  classes(): readonly IngressClass[]
  service(key: string): Service | undefined
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  /** The ConfigMaps that the Ingresses of a unit name now; others are not read. */
  nameConfigMaps(unit: string, keys: ReadonlySet<string>): void
  /** A ConfigMap that is named, by `namespace/name`; null until it was read. */
  configMap(key: string): ConfigMapSight
  /** The Ingress is missing, but the deletion guard holds it. */
  isHeld(key: string): boolean
  /**
   * Asks the API server itself whether the Ingress of this UID is gone, whatever the watch has shown.
   * @throws Error when that cannot be decided now
   */
  isGone(key: string, uid: string): Promise<boolean>
  /**
   * Replaces the addresses in its status; an Ingress that is gone is no error.
   * @returns the written version; null when it is gone
   * @throws Stale when it was made again under this name
   */
  writeAddresses(ingress: Ingress, addresses: readonly string[]): Promise<string | null>
  /** Records an event and returns at once. */
  tell(ingress: Ingress, event: ObjectEvent): void
}
