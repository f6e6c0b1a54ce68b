import type { LoadBalancer, LoadBalancerStatus } from '@spout/model'
import { providerOf } from '../terms/facts.ts'
import type { Graph } from '../terms/octavia-resources.ts'
import type { OperatingStatus, ProvisioningStatus } from '../terms/words.ts'
import { unfoldGraph } from './graph.ts'
import { type KnownPools, operatingStatuses } from './operating-status.ts'

/** One load balancer with its current status, from which replies are printed. */
export interface Snapshot {
  readonly lb: LoadBalancer
  readonly status: LoadBalancerStatus
  readonly provisioning: ProvisioningStatus
  readonly provider: string
  graph(): Graph
  operating(id: string): OperatingStatus
}

export const snapshotOf = (lb: LoadBalancer, status: LoadBalancerStatus, pools: KnownPools): Snapshot =>
  new LazySnapshot(lb, status, pools)

/** Computes everything on first use, since a list of load balancers whose texts are known needs none of it. */
class LazySnapshot implements Snapshot {
  readonly lb: LoadBalancer
  readonly status: LoadBalancerStatus
  readonly #pools: KnownPools
  #graph: Graph | null = null
  #operating: Snapshot['operating'] | null = null

  constructor(lb: LoadBalancer, status: LoadBalancerStatus, pools: KnownPools) {
    this.lb = lb
    this.status = status
    this.#pools = pools
  }

  get provisioning(): ProvisioningStatus {
    return provisioningStatus(this.lb, this.status)
  }

  get provider(): string {
    return providerOf(this.lb.annotations) ?? 'spout'
  }

  graph(): Graph {
    this.#graph ??= unfoldGraph(this.lb)
    return this.#graph
  }

  operating(id: string): OperatingStatus {
    this.#operating ??= operatingStatuses(this.lb, this.status, this.#pools)
    return this.#operating(id)
  }
}

/**
 * Whether the nodes have finished this version, successfully or not. A status that is older than the change still says
 * active.
 */
export const isSettled = (lb: LoadBalancer, status: LoadBalancerStatus): boolean =>
  status.provisioning === 'error' || isActive(lb, status)

/** Without a network there are no members to reach, so the nodes have nothing to confirm. */
const isActive = (lb: LoadBalancer, { provisioning, confirmedGeneration, reason }: LoadBalancerStatus): boolean =>
  provisioning === 'active' && (confirmedGeneration >= lb.generation || reason === 'NoNetwork')

export function provisioningStatus(lb: LoadBalancer, status: LoadBalancerStatus): ProvisioningStatus {
  if (status.provisioning === 'error') return 'ERROR'
  if (isActive(lb, status)) return 'ACTIVE'
  return status.confirmedGeneration === 0 ? 'PENDING_CREATE' : 'PENDING_UPDATE'
}

/** The times of a stored object. */
interface Dated {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string | null
}

/**
 * A child has the status of its load balancer. A child that was created after the last confirmation is still being
 * created.
 */
export function childProvisioning({ provisioning, status }: Snapshot, child: Dated): ProvisioningStatus {
  if (provisioning !== 'PENDING_UPDATE') return provisioning
  return status.confirmedAt !== null && child.createdAt > status.confirmedAt ? 'PENDING_CREATE' : 'PENDING_UPDATE'
}

/**
 * The time of the last change. Octavia sets it when the object becomes ACTIVE, and clients parse it, so from then on it
 * must not be null. An object that was never changed shows its creation time; the time of confirmation applies to its
 * load balancer only.
 */
export const updatedAt = (snapshot: Snapshot, object: Dated): string | null =>
  object.updatedAt ?? (childProvisioning(snapshot, object) === 'PENDING_CREATE' ? null : object.createdAt)

/** Converts `2026-01-31T12:00:00.000Z` to Python's format, without a zone and with microseconds. */
export const wireTime = (timestamp: string | null): string | null => timestamp?.replace(/Z$/, '000') ?? null
