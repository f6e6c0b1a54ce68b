import type { EndpointSlice, Ingress, IngressClass, ObjectEvent, Service } from '@spout/kube'
import type { ConfigMapSight } from '../to-model/custom-headers.ts'

/**
 * What changed, by key: an Ingress, a Service or its EndpointSlices (`backend`), or a named ConfigMap. Or the
 * IngressClasses.
 */
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
  /** Sets which ConfigMaps the Ingresses of a unit name now. No others are read. */
  nameConfigMaps(unit: string, keys: ReadonlySet<string>): void
  /** The content of a named ConfigMap, by `namespace/name`; null until it has been read. */
  configMap(key: string): ConfigMapSight
  /** The Ingress is missing, but the deletion guard holds it. */
  isHeld(key: string): boolean
  /**
   * Asks the API server itself whether the Ingress of this UID is gone, whatever the watch has shown.
   * @throws Error when that cannot be decided now
   */
  isGone(key: string, uid: string): Promise<boolean>
  /**
   * Replaces the addresses in the status of an Ingress. An Ingress that is gone is no error.
   * @returns the version that was written; null when it is gone
   * @throws Stale when it was created again under this name
   */
  writeAddresses(ingress: Ingress, addresses: readonly string[]): Promise<string | null>
  /** Records an event and returns at once. */
  tell(ingress: Ingress, event: ObjectEvent): void
}
