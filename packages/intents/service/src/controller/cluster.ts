import type { Refusal } from '@spout/connector'
import type { EndpointSlice, Node, ObjectEvent, Service } from '@spout/kube'
import type { WrittenStatus } from '../write-back/status.ts'

/** What changed: the key of a Service, of a Service whose EndpointSlices changed, or the nodes. */
export type ClusterChange = { readonly type: 'service' | 'slices'; readonly key: string } | { readonly type: 'nodes' }

export interface Barred {
  readonly refusal: Refusal
  /** Whether its status keeps the addresses that it shows: the load balancer that has them is not visible to us. */
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
  /** The Service is missing, but the deletion guard holds it. */
  isHeld(key: string): boolean
  /**
   * Asks the API server itself whether the Service of this UID is gone, whatever the watch has shown.
   * @throws Error when that cannot be decided now
   */
  isGone(key: string, uid: string): Promise<boolean>
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  nodes(): Iterable<Node>
  /** Why a Service must not be balanced, whatever its spec; null when it may be. */
  barred(service: Service): Barred | null
  /** A notice for a Service that works. */
  notice(service: Service): Refusal | null
  /** Whether it has our finalizer and mark. */
  isClaimed(service: Service): boolean
  /**
   * Puts finalizer and mark on a Service. The write names the version and the UID that were read.
   * @throws Stale when the Service has changed since
   */
  claim(service: Service): Promise<void>
  /** Takes finalizer and mark off; a Service that is gone is no error. @throws Stale */
  release(service: Service): Promise<void>
  /**
   * Applies our part of the status; a Service that is gone is no error. @returns the written version; null when it is
   * gone
   */
  writeStatus(service: Service, status: WrittenStatus): Promise<string | null>
  /** Records an event and returns at once; one that cannot be written is no error. */
  tell(service: Service, event: ObjectEvent): void
}
