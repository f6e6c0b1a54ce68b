import type { NewPlacement, ViewOf } from '@spout/admission/contract'
import {
  type LoadBalancer,
  type LoadBalancerEntry,
  loadBalancerKey,
  type Network,
  type SecurityRule,
  type StatusReader,
} from '@spout/model'
import {
  announcingIn,
  knownNodeRoutes,
  knownPools,
  type LoadBalancerPlan,
  type Planned,
  planLoadBalancer,
} from '@spout/plan'
import type { Clock } from '@spout/runtime'
import type { CarryingGroups } from '../indexes/carrying-groups.ts'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { DomainPublisher } from './domain-publisher.ts'
import { gatewayOwners, ownerInput } from './owner-input.ts'
import type { PlanQueue } from './plan-queue.ts'

/** The kinds that a plan of a load balancer reads. The compiler makes `ChangeRouter` follow each of them. */
export type ReadByLoadBalancers = 'loadBalancer' | 'network' | 'certificate' | 'securityGroup'

export interface LoadBalancerPublisherOptions {
  /** Of a group, a plan may read only `CarryingGroups`: a change of anything else would not be noticed. */
  readonly view: ViewOf<ReadByLoadBalancers>
  readonly cluster: Pick<ClusterIndex, 'classOf' | 'groupIdOf' | 'nodesOf' | 'loadBalancersOfNetwork'>
  readonly carryingGroups: Pick<CarryingGroups, 'of'>
  readonly placements: PlacementLog
  readonly domains: DomainPublisher
  readonly queue: PlanQueue
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  readonly status: Pick<StatusReader, 'features'>
  readonly clock: Clock
}

/**
 * Load balancers with more members are not placed within the request that creates them. Planning 100 takes less than 1
 * ms.
 */
const MOST_MEMBERS_PLACED_AT_ONCE = 100

/**
 * Plans a load balancer and publishes its entries for all nodes. If the placement differs from the stored one, it is
 * stored first.
 */
export class LoadBalancerPublisher {
  readonly #options: LoadBalancerPublisherOptions
  readonly #nodeRoutes = knownNodeRoutes()
  readonly #pools = knownPools()

  constructor(options: LoadBalancerPublisherOptions) {
    this.#options = options
  }

  /** @throws SpoutError if the placement cannot be stored. Then nothing was published */
  async publish(id: string): Promise<void> {
    const { view, cluster, placements, domains, queue, nodeStates } = this.#options
    const { index } = placements
    const networkBefore = index.get(id)?.networkId ?? null
    const loadBalancer = view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) {
      nodeStates.set(loadBalancerKey(id), new Map())
      queue.network(networkBefore)
      return placements.delete(id)
    }
    const network = this.#networkOf(loadBalancer)
    const plan = this.#plan(loadBalancer, network)
    // The load balancer was never on a node, so there is nothing to publish.
    if (network === null && index.get(id) === null) return placements.put(plan.placement, loadBalancer.projectId)
    const [gatewayBefore] = gatewayOwners(network, index)
    await placements.put(plan.placement, loadBalancer.projectId)
    const [gateway] = gatewayOwners(network, index)
    // The network's gateway moves to another node: its load balancers must follow.
    if (network !== null && gateway !== gatewayBefore) queue.loadBalancers(cluster.loadBalancersOfNetwork(network.id))
    // A node must know the domain before it gets load balancers in it.
    if (network !== null) await domains.bringUpToDate(network.id)
    nodeStates.set(loadBalancerKey(id), plan.entries)
    if (networkBefore !== network?.id) queue.network(networkBefore)
  }

  /**
   * Places a load balancer that is about to be stored, so that its placement can be stored in the same commit.
   * `publish` then finds the placement and need not store it.
   * @returns null if `publish` must place it: it has no network, so no placement is stored; or it is so large that
   * planning takes a turn of its own
   */
  placeNew(loadBalancer: LoadBalancer): NewPlacement | null {
    const { cluster, placements, queue } = this.#options
    const { index } = placements
    const network = this.#networkOf(loadBalancer)
    const members = loadBalancer.pools.reduce((sum, pool) => sum + pool.members.length, 0)
    // An administrator chose the id, and a load balancer with it exists, or its placement is not deleted yet.
    const isKnown = index.get(loadBalancer.id) !== null
    if (network === null || members > MOST_MEMBERS_PLACED_AT_ONCE || isKnown) return null
    const { placement } = this.#plan(loadBalancer, network)
    const [gatewayBefore] = gatewayOwners(network, index)
    const settle = placements.expect(placement)
    return {
      placement,
      settle: (revision) => {
        settle(revision)
        const [gateway] = gatewayOwners(network, index)
        if (gateway !== gatewayBefore) queue.loadBalancers(cluster.loadBalancersOfNetwork(network.id))
      },
    }
  }

  /** Plans a load balancer that may not be stored, as `publish` would. Nothing is published. */
  forecast(loadBalancer: LoadBalancer): Planned {
    const network = this.#networkOf(loadBalancer)
    return { loadBalancer, plan: this.#plan(loadBalancer, network), returnPath: network?.returnPath ?? null }
  }

  #plan(loadBalancer: LoadBalancer, network: Network | null): LoadBalancerPlan {
    const { view, cluster, carryingGroups, placements, clock } = this.#options
    const { index } = placements
    const group = carryingGroups.of(cluster.groupIdOf(loadBalancer))
    return planLoadBalancer({
      ...ownerInput(this.#options, loadBalancer, network, index),
      network,
      announcing: announcingIn(group, index, loadBalancer.networkId),
      entryBefore: this.#entryOf(loadBalancer.id),
      nodeRoutes: this.#nodeRoutes,
      knownPools: this.#pools,
      freePoolNumber: (after) => (network === null ? null : index.freePoolNumber(network.id, after)),
      connectionLimit: cluster.classOf(loadBalancer)?.connectionLimit ?? null,
      securityRules: this.#securityRulesOf(loadBalancer),
      certificateOf: (certificateId) => view.get('certificate', certificateId)?.value ?? null,
      now: clock.now().toISOString(),
    })
  }

  /** The entry of any node that has one: its pools and services are the same on all nodes. */
  #entryOf(id: string): LoadBalancerEntry | null {
    const { nodeStates } = this.#options
    for (const nodeId of nodeStates.nodesWith(loadBalancerKey(id))) {
      const entry = nodeStates.get(nodeId, loadBalancerKey(id))?.entry
      if (entry?.kind === 'load-balancer') return entry
    }
    return null
  }

  /** The rules of all security groups that it names; null if it names none. */
  #securityRulesOf({ securityGroupIds = [] }: LoadBalancer): readonly SecurityRule[] | null {
    if (securityGroupIds.length === 0) return null
    return securityGroupIds.flatMap((id) => this.#options.view.get('securityGroup', id)?.value.rules ?? [])
  }

  #networkOf({ networkId }: LoadBalancer): Network | null {
    return networkId === null ? null : (this.#options.view.get('network', networkId)?.value ?? null)
  }
}
