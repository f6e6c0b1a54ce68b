import type { Refusal } from '@spout/connector'
import type { EndpointSlice, Node, ObjectEvent, Service } from '@spout/kube'
import type { WrittenStatus } from '../write-back/status.ts'

/** What changed: a Service, the EndpointSlices of a Service, or the nodes. Keys are `namespace/name` of the Service. */
export type ClusterChange = { readonly type: 'service' | 'slices'; readonly key: string } | { readonly type: 'nodes' }

export interface Barred {
  readonly refusal: Refusal
  /**
   * Whether the status keeps the addresses that it shows: a load balancer of a project that we do not know has them.
   */
  readonly keepsAddresses: boolean
}

/** A Kubernetes cluster as the controller needs it: its objects in memory, and the few writes. */
export interface Cluster {
  /** Whether the first lists are complete. Nothing is decided before. */
  readonly ready: boolean
  /** Calls back for each change, and for each object of the first list. */
  onChange(listener: (change: ClusterChange) => void): () => void
  /** `namespace/name`; undefined when there is none. */
  service(key: string): Service | undefined
  services(): Iterable<Service>
  /** Whether the Service is missing from a list, but held by the deletion guard. */
  isHeld(key: string): boolean
  /**
   * Asks the API server whether the Service of this UID is gone, and does not rely on the watch.
   * @throws Error when that cannot be decided now
   */
  isGone(key: string, uid: string): Promise<boolean>
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  nodes(): Iterable<Node>
  /** Why a Service must not be balanced, whatever its spec says; null when it may be. */
  barred(service: Service): Barred | null
  /** A notice to show on a Service that works. */
  notice(service: Service): Refusal | null
  /** Whether it has our finalizer and mark. */
  isClaimed(service: Service): boolean
  /**
   * Puts our finalizer and mark on a Service. The write names the version and the UID that were read.
   * @throws Stale when the Service has changed since
   */
  claim(service: Service): Promise<void>
  /** Removes our finalizer and mark. @throws Stale when the Service has changed since it was read, or is gone */
  release(service: Service): Promise<void>
  /**
   * Applies our part of the status; a Service that is gone is no error. @returns the written version; null when it is
   * gone
   */
  writeStatus(service: Service, status: WrittenStatus): Promise<string | null>
  /** Records an event and returns at once; one that cannot be written is no error. */
  tell(service: Service, event: ObjectEvent): void
}
