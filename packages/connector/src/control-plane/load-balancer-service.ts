import type { LoadBalancer, LoadBalancerStatus } from '@spout/model'
import type { AddressCandidate, KnownPool } from '../addresses/address-choice.ts'
import type { KnownNetwork } from '../addresses/reach.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { PoolChange } from '../content/content-difference.ts'

/** A load balancer as the control plane shows it. */
export interface ShownLoadBalancer {
  readonly document: LoadBalancer
  /** A control plane that is older does not tell `serving`. */
  readonly status: Pick<LoadBalancerStatus, 'provisioning' | 'reason' | 'message' | 'confirmedGeneration'> &
    Partial<Pick<LoadBalancerStatus, 'serving'>>
}

/** How far nodes are with a load balancer that was deleted. */
export interface ShownWithdrawal {
  readonly withdrawn: boolean
  /** It takes longer than anybody should wait. */
  readonly overdue: boolean
  /** Names of the nodes that have yet to confirm, as far as we may know them. */
  readonly waitingFor: readonly string[]
}

/** `listed` ends the first part of a watch: what was shown until then is everything there is. */
export type LoadBalancerEvent =
  | { readonly type: 'listing' }
  | { readonly type: 'shown'; readonly loadBalancer: ShownLoadBalancer }
  | { readonly type: 'deleted'; readonly id: string }
  | { readonly type: 'listed' }

/** A pod network behind a node of the cluster: a canonical prefix by the node's address. */
export interface PodRoute {
  readonly to: string
  readonly via: string
}

/** A network with the prefixes of its subnets. */
export interface ShownNetwork extends KnownNetwork {
  readonly cidrs: readonly string[]
}

export interface RoutedNetwork {
  readonly id: string
  /** Prefixes of its subnets: routers are in one of them. */
  readonly cidrs: readonly string[]
  readonly routes: readonly PodRoute[]
}

/**
 * The load balancers of one project, as the Service controller needs them. All methods throw `Refused` for what the
 * control plane will not do, and other errors for what may work later.
 */
export interface LoadBalancerService {
  /** The project that everything is done in. */
  projectId(): Promise<string>
  list(): Promise<readonly ShownLoadBalancer[]>
  /** Null when there is none of that id. */
  get(id: string): Promise<ShownLoadBalancer | null>
  /**
   * The primary address first; a refusal for one request is told as its field, `vips[0].address`.
   * @param patienceMs how long it may wait for others that are made with it; left out, not at all
   */
  create(
    id: string,
    content: LoadBalancerContent,
    vip: AddressCandidate,
    patienceMs?: number,
  ): Promise<ShownLoadBalancer>
  /** Says the whole content anew. */
  replace(id: string, content: LoadBalancerContent): Promise<ShownLoadBalancer>
  /**
   * Changes members of one pool; everything else stays as it is.
   * @param shown as it was last seen: what the change is the difference to
   * @throws Refused with a field such as `put[0].address`
   */
  changeMembers(shown: ShownLoadBalancer, change: PoolChange): Promise<ShownLoadBalancer>
  /** Resolves once the control plane has none of that id, also when it had none before. */
  delete(id: string): Promise<void>
  /** Whether nodes have let go of what was deleted; answers once they have, or after `waitMs`. */
  withdrawal(id: string, waitMs: number): Promise<ShownWithdrawal>
  /** Gives it one more address. */
  addVip(id: string, vip: AddressCandidate): Promise<ShownLoadBalancer>
  /** Takes an address away that is not the first, and lets it go. */
  removeVip(id: string, address: string): Promise<ShownLoadBalancer>
  /** What exists, then changes, until `signal` aborts or the connection ends. */
  watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent>
  addressPools(): Promise<readonly KnownPool[]>
  /** Once at first, then whenever the pools change or may have, until `signal` aborts or the connection ends. */
  poolChanges(signal: AbortSignal): AsyncIterable<void>
  /** All networks of the project, by id, and again whenever one changed, until `signal` aborts or the connection ends. */
  watchNetworks(signal: AbortSignal): AsyncIterable<readonly ShownNetwork[]>
  /** A network of the project, by name or id. */
  network(nameOrId: string): Promise<RoutedNetwork>
  replaceRoutes(networkId: string, routes: readonly PodRoute[]): Promise<void>
}
