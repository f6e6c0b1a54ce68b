import type { CustomStatus, EndpointSlice, ObjectEvent, Service } from '@spout/kube'
import type { LoadBalancerObject } from '../load-balancer-object.ts'

/** What changed, by `namespace/name`: an object, a Service or its endpoints, or a single EndpointSlice. */
export interface ClusterChange {
  readonly type: 'object' | 'service' | 'slice'
  readonly key: string
}

/** A Kubernetes cluster as the controller needs it: its objects in memory, and the few writes. */
export interface Cluster {
  /** Whether the first lists are complete. Nothing is decided before. */
  readonly ready: boolean
  onChange(listener: (change: ClusterChange) => void): () => void
  /** `namespace/name`; undefined when there is none. */
  object(key: string): LoadBalancerObject | undefined
  objects(): Iterable<LoadBalancerObject>
  /** Whether the object exists but belongs to another project. */
  isElsewhere(key: string): boolean
  service(key: string): Service | undefined
  services(namespace: string): Iterable<Service>
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  slice(key: string): EndpointSlice | undefined
  /** Adds our finalizer. @throws Stale when the object has changed since it was read, or is gone */
  claim(object: LoadBalancerObject): Promise<void>
  /**
   * Removes our finalizer from an object that is being deleted.
   * @throws Stale when it has changed since it was read, or is gone
   */
  release(object: LoadBalancerObject): Promise<void>
  /** Applies our status. An object that is gone is no error. */
  writeStatus(object: LoadBalancerObject, status: CustomStatus): Promise<void>
  /** Records an event and returns at once; one that cannot be written is no error. */
  tell(object: LoadBalancerObject, event: ObjectEvent): void
}
