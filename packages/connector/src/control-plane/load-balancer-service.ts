import type { ClassQuota, LoadBalancer, LoadBalancerClass, LoadBalancerStatus } from '@spout/model'
import type { AddressCandidate, KnownPool } from '../addresses/address-choice.ts'
import type { KnownNetwork } from '../addresses/reach.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { PoolChange } from '../content/content-difference.ts'
import type { RouteChange } from '../content/route-difference.ts'

/** A load balancer as the control plane shows it. */
export interface ShownLoadBalancer {
  readonly document: LoadBalancer
  /** An older control plane sends neither `serving` nor `notice`. */
  readonly status: Pick<LoadBalancerStatus, 'provisioning' | 'reason' | 'message' | 'confirmedGeneration'> &
    Partial<Pick<LoadBalancerStatus, 'serving' | 'notice'>>
}

/** How far the nodes have withdrawn a deleted load balancer. */
export interface ShownWithdrawal {
  readonly withdrawn: boolean
  /** Whether it has taken longer than a user should wait. */
  readonly overdue: boolean
  /** Names of the nodes that have not confirmed, as far as our credential may see them. */
  readonly waitingFor: readonly string[]
}

/** `listed` ends the first part of a watch: everything that exists has been sent. */
export type LoadBalancerEvent =
  | { readonly type: 'listing' }
  | { readonly type: 'shown'; readonly loadBalancer: ShownLoadBalancer }
  | { readonly type: 'deleted'; readonly id: string }
  | { readonly type: 'listed' }

/** A pod network behind a node of the cluster: a canonical prefix and the node's address. */
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
  /** Prefixes of its subnets, which contain the routers. */
  readonly cidrs: readonly string[]
  readonly routes: readonly PodRoute[]
}

/** How many load balancers a project may have, and has. */
export interface ShownQuota {
  readonly limits: { readonly loadBalancers: number }
  readonly used: { readonly loadBalancers: number }
  /** Those of classes, where they are limited or used. An older control plane does not send them. */
  readonly classes?: readonly ClassQuota[]
}

/**
 * Access to the other objects of a project that its load balancers need. All methods throw `Refused` when the control
 * plane refuses, and other errors when a later attempt may work.
 */
export interface ProjectService {
  /** The project of the credential. */
  projectId(): Promise<string>
  /** A class that is open to the project, by its name or id; null: there is none. */
  loadBalancerClass(nameOrId: string): Promise<Pick<LoadBalancerClass, 'id' | 'name' | 'enabled'> | null>
  quota(): Promise<ShownQuota>
  addressPools(): Promise<readonly KnownPool[]>
  /** Yields once at first, then when the pools change or may have, until `signal` aborts or the connection ends. */
  poolChanges(signal: AbortSignal): AsyncIterable<void>
  /**
   * All networks of the project, sorted by id, and again after each change, until `signal` aborts or the connection
   * ends.
   */
  watchNetworks(signal: AbortSignal): AsyncIterable<readonly ShownNetwork[]>
  /**
   * The domains of the project, and again after each change, until `signal` aborts or the connection ends. An older
   * control plane, which refuses, has none.
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
   * Creates one with its primary address. The field of a refusal is relative to this request, such as
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
   * @param shown the document that the change was computed from
   * @throws Refused with a field such as `put[0].address`
   */
  changeMembers(shown: ShownLoadBalancer, change: PoolChange): Promise<ShownLoadBalancer>
  /** Changes routes of one listener as a whole; everything else stays as it is. @param shown as for `changeMembers` */
  changeRoutes(shown: ShownLoadBalancer, change: RouteChange): Promise<ShownLoadBalancer>
  /** Resolves once the control plane has none with that id, also when it had none before. */
  delete(id: string): Promise<void>
  /** Whether the nodes have withdrawn what was deleted; answers when they have, or after `waitMs`. */
  withdrawal(id: string, waitMs: number): Promise<ShownWithdrawal>
  /** Adds an address. */
  addVip(id: string, vip: AddressCandidate): Promise<ShownLoadBalancer>
  /** Removes an address other than the first, and releases it. */
  removeVip(id: string, address: string): Promise<ShownLoadBalancer>
  /** Everything that exists, then changes, until `signal` aborts or the connection ends. */
  watch(signal: AbortSignal): AsyncIterable<LoadBalancerEvent>
}
