import type { Refusal } from '@spout/connector'
import type { EndpointSlice, Node, Service } from '@spout/kube'
import type { ServiceEvent } from '../write-back/events.ts'
import type { WrittenStatus } from '../write-back/status.ts'

/** What changed: the key of a Service, of a Service whose EndpointSlices changed, or the nodes. */
export type ClusterChange = { readonly type: 'service' | 'slices'; readonly key: string } | { readonly type: 'nodes' }

export interface Barred {
  readonly refusal: Refusal
  /** Whether the addresses that it shows are left there: what has them cannot be seen. */
  readonly keepsAddresses: boolean
}

/** A Kubernetes cluster as the controller needs it: what is there, kept in memory, and the few writes. */
export interface Cluster {
  /** Whether everything was listed once. Nothing is decided before. */
  readonly ready: boolean
  /** Calls back for each change, and for each object of the first list. */
  onChange(listener: (change: ClusterChange) => void): () => void
  /** `namespace/name`; undefined when there is none. */
  service(key: string): Service | undefined
  services(): Iterable<Service>
  /** The Service is missing, but not believed to be deleted. */
  isHeld(key: string): boolean
  /**
   * Asks the API server itself whether the Service of this UID is gone, whatever was shown of it up to now.
   * @throws Error when that cannot be said now
   */
  isGone(key: string, uid: string): Promise<boolean>
  slicesOf(serviceKey: string): readonly EndpointSlice[]
  nodes(): Iterable<Node>
  /** Why a Service is not balanced, whatever it says; null when it may be. */
  barred(service: Service): Barred | null
  /** What is worth telling of a Service that works. */
  notice(service: Service): Refusal | null
  /** Whether finalizer and mark are on it. */
  isClaimed(service: Service): boolean
  /**
   * Puts finalizer and mark on a Service. Each write is of the version that was read, of that UID.
   * @throws Stale when the Service was changed meanwhile
   */
  claim(service: Service): Promise<void>
  /** Takes finalizer and mark off; a Service that is gone is no error. @throws Stale */
  release(service: Service): Promise<void>
  /** Sets our part of the status; a Service that is gone is no error. @returns the version that has it; null for none */
  writeStatus(service: Service, status: WrittenStatus): Promise<string | null>
  /** Records an event for people, and returns at once: one that cannot be written is no error. */
  tell(service: Service, event: ServiceEvent): void
}
