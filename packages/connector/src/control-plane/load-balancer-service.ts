import type { ClassQuota, LoadBalancer, LoadBalancerClass, LoadBalancerStatus, Network } from '@spout/model'
import type { AddressCandidate, KnownPool } from '../addresses/address-choice.ts'
import type { KnownNetwork } from '../addresses/reach.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { PoolChange } from '../content/content-difference.ts'
import type { RouteChange } from '../content/route-difference.ts'

/** A load balancer as the control plane shows it. */
export interface ShownLoadBalancer {
  readonly document: LoadBalancer
  /** Older control planes send neither `serving` nor `notice`. */
  readonly status: Pick<LoadBalancerStatus, 'provisioning' | 'reason' | 'message' | 'confirmedGeneration'> &
    Partial<Pick<LoadBalancerStatus, 'serving' | 'notice'>>
}

/** Whether the nodes have withdrawn a deleted load balancer. */
export interface ShownWithdrawal {
  readonly withdrawn: boolean
  /** Whether it takes longer than a user should have to wait. */
  readonly overdue: boolean
  /** Names of the nodes that have not confirmed, as far as our credential may see them. */
  readonly waitingFor: readonly string[]
}

/** `listing` begins a watch; `listed` says that everything that exists has been sent. */
export type LoadBalancerEvent =
  | { readonly type: 'listing' }
  | { readonly type: 'shown'; readonly loadBalancer: ShownLoadBalancer }
  | { readonly type: 'deleted'; readonly id: string }
  | { readonly type: 'listed' }

/** A route to pods: a canonical prefix, and the address of the node or router that forwards to it. */
export interface PodRoute {
  readonly to: string
  readonly via: string
  /** The name of the node that hosts the pods. Absent if it is not known, or the network's return path is another. */
  readonly node?: string | undefined
}

/** A network with the prefixes of its subnets. */
export interface ShownNetwork extends KnownNetwork {
  readonly cidrs: readonly string[]
}

export interface RoutedNetwork {
  readonly id: string
  /** Prefixes of its subnets, which contain the routers. */
  readonly cidrs: readonly string[]
  readonly returnPath: Network['returnPath']
  readonly routes: readonly PodRoute[]
}

/** How many load balancers a project may have, and how many it has. */
export interface ShownQuota {
  readonly limits: { readonly loadBalancers: number }
  readonly used: { readonly loadBalancers: number }
  /** The same for classes that are limited or used. Older control planes do not send it. */
  readonly classes?: readonly ClassQuota[]
}

/**
 * Access to the objects of a project that its load balancers depend on. All methods throw `Refused` when the control
 * plane refuses, and other errors when a later attempt may succeed.
 */
export interface ProjectService {
  /** The project of the credential. */
  projectId(): Promise<string>
  /** A class that the project may use, by its name or id; null for none. */
  loadBalancerClass(nameOrId: string): Promise<Pick<LoadBalancerClass, 'id' | 'name' | 'enabled'> | null>
  quota(): Promise<ShownQuota>
  addressPools(): Promise<readonly KnownPool[]>
  /** Yields once at first, then whenever the pools may have changed, until `signal` aborts or the connection ends. */
  poolChanges(signal: AbortSignal): AsyncIterable<void>
  /**
   * Yields all networks of the project, sorted by id, at first and after each change, until `signal` aborts or the
   * connection ends.
   */
  watchNetworks(signal: AbortSignal): AsyncIterable<readonly ShownNetwork[]>
  /**
   * Yields the domains of the project, at first and after each change, until `signal` aborts or the connection ends.
   * Older control planes refuse the watch: then it yields no domains and throws the refusal.
   */
  watchDomains(signal: AbortSignal): AsyncIterable<readonly string[]>
  /** A network of the project, by name or id. */
  network(nameOrId: string): Promise<RoutedNetwork>
  replaceRoutes(networkId: string, routes: readonly PodRoute[]): Promise<void>
}

/** The load balancers of one project, as the controllers of intents need them. Errors are as for `ProjectService`. */
export interface LoadBalancerService extends ProjectService {
  list(): Promise<readonly ShownLoadBalancer[]>
  /** Null when there is no load balancer with that id. */
  get(id: string): Promise<ShownLoadBalancer | null>
  /**
   * Creates a load balancer with its primary address. A refusal names a field of this request, such as
   * `vips[0].address`.
   * @param patienceMs how long it may wait to share a call with others; 0 when left out
   * @param classId its class; left out: none
   */
  create(
    id: string,
    content: LoadBalancerContent,
    vip: AddressCandidate,
    patienceMs?: number,
    classId?: string,
  ): Promise<ShownLoadBalancer>
  /** Replaces the whole content. */
  replace(id: string, content: LoadBalancerContent): Promise<ShownLoadBalancer>
  /**
   * Changes members of one pool; everything else stays as it is.
   * @param shown the load balancer from which the change was computed
   * @throws Refused with a field such as `put[0].address`
   */
  changeMembers(shown: ShownLoadBalancer, change: PoolChange): Promise<ShownLoadBalancer>
  /**
   * Changes routes of one listener, all or none; everything else stays as it is.
   * @param shown as for `changeMembers`
   */
  changeRoutes(shown: ShownLoadBalancer, change: RouteChange): Promise<ShownLoadBalancer>
  /** Resolves once the control plane has no load balancer with that id, also when it had none before. */
  delete(id: string): Promise<void>
  /** Waits until the nodes have withdrawn a deleted load balancer, `waitMs` at most. */
  withdrawal(id: string, waitMs: number): Promise<ShownWithdrawal>
  /** Adds an address. */
  addVip(id: string, vip: AddressCandidate): Promise<ShownLoadBalancer>
  /** Removes an address other than the first, and releases it. */
  removeVip(id: string, address: string): Promise<ShownLoadBalancer>
  /** Yields everything that exists, then changes, until `signal` aborts or the connection ends. */
  watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent>
}
