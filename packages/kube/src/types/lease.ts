import type { KubeObject } from './object-meta.ts'

/** coordination.k8s.io/v1 Lease. Times are MicroTime. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export interface LeaseSpec {
  /** Empty or left out: nobody holds the lease. */
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}
