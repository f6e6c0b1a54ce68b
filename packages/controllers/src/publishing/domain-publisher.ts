import type { NodeAddressAdmission, ViewOf } from '@spout/admission/contract'
import { domainKey, fabricAddressOf, type Node, SpoutError, sameJson } from '@spout/model'
import { type NetworkUse, type PlacementIndex, planDomains, sharesAddresses } from '@spout/plan'
import { type Logger, Mutex } from '@spout/runtime'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { PlanQueue } from './plan-queue.ts'

/** The kinds that a plan of a domain reads. The compiler makes `ChangeRouter` follow each of them. */
export type ReadByDomains = 'network' | 'address'

export interface DomainPublisherOptions {
  /** Of load balancers, a domain's plan may read only `NetworkUse`: a change of anything else would not be noticed. */
  readonly view: ViewOf<ReadByDomains>
  readonly cluster: Pick<
    ClusterIndex,
    'group' | 'groupOfNode' | 'nodesOf' | 'groupsOfNetwork' | 'hasInnerProxy' | 'isUntracked'
  >
  readonly placements: { readonly index: Pick<PlacementIndex, 'gatewayShard' | 'gatewayOwners'> }
  readonly queue: PlanQueue
  readonly nodeStates: NodeStateTable
  /** Allocates and stores the nodes' own addresses in tenant networks. */
  readonly admission: Omit<NodeAddressAdmission, 'seeFabricAddress'>
  /** As `PlanControllerOptions.hostSegments`. */
  readonly hostSegments?: readonly string[]
  readonly log: Logger
}

interface PublishedDomain {
  readonly key: string
  /** The inputs of its last publication. */
  readonly use: NetworkUse
}

const ADDRESS_RETRY_MS = 5000

/** Publishes domains: the entries of a tenant network, for the nodes of all groups that carry its load balancers. */
export class DomainPublisher {
  readonly #options: DomainPublisherOptions
  /** By network id. */
  readonly #published = new Map<string, PublishedDomain>()
  /** Publications under way, by network id. Load balancers of one network wait for the same publication. */
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #ensuring = new Mutex()

  constructor(options: DomainPublisherOptions) {
    this.#options = options
  }

  /**
   * Publishes the network's domain if its load balancers need more of it than was published. Resolves when that is
   * done.
   */
  async bringUpToDate(networkId: string): Promise<void> {
    while (this.#isOutdated(networkId)) {
      const underWay = this.#underWay.get(networkId)
      if (underWay === undefined) return this.publish(networkId)
      await underWay
    }
  }

  #isOutdated(networkId: string): boolean {
    const published = this.#published.get(networkId)
    return published === undefined || !sameJson(published.use, this.#useOf(networkId))
  }

  /** Publishes the network's domain. Resolves when its state at that time is published. */
  async publish(networkId: string): Promise<void> {
    const work = this.#publish(networkId)
    this.#underWay.set(networkId, work)
    try {
      await work
    } finally {
      if (this.#underWay.get(networkId) === work) this.#underWay.delete(networkId)
    }
  }

  /**
   * Allocating addresses takes time. It is repeated if the network's use has changed meanwhile: other nodes may need
   * addresses.
   */
  async #publish(networkId: string): Promise<void> {
    let use: NetworkUse
    do {
      use = this.#useOf(networkId)
      await this.#ensureAddresses(networkId, use)
    } while (!sameJson(use, this.#useOf(networkId)))
    this.#publishNow(networkId, use)
  }

  #publishNow(networkId: string, use: NetworkUse): void {
    const { view, nodeStates, admission } = this.#options
    const network = view.get('network', networkId)?.value
    const nodes = this.#nodesOf(use)
    if (network === undefined || nodes.length === 0) {
      const published = this.#published.get(networkId)
      this.#published.delete(networkId)
      if (published !== undefined) nodeStates.set(published.key, new Map())
      return
    }
    const carrying = nodes.map(({ id, nodeGroupId }) => ({
      id,
      nodeGroupId,
      addresses: admission.nodeAddresses(networkId, id),
    }))
    const key = domainKey(network.number)
    nodeStates.set(key, planDomains(network, use, carrying, admission.sharedAddresses(networkId)))
    this.#published.set(networkId, { key, use })
  }

  #useOf(networkId: string): NetworkUse {
    const { view, cluster, placements, hostSegments = [] } = this.#options
    const network = view.get('network', networkId)?.value
    const returnPath = network?.returnPath
    const isHosted = hostSegments.includes(network?.segment.physicalNetwork ?? '')
    const groupIds = cluster.groupsOfNetwork(networkId)
    const [nodeId = null] = returnPath === 'gateway' ? placements.index.gatewayOwners(networkId) : []
    const shard = placements.index.gatewayShard(networkId)
    const groupId = nodeId === null ? null : cluster.groupOfNode(nodeId)
    const announcer = groupId === null ? undefined : cluster.group(groupId)?.announcer
    const nodeHolder = nodeId === null ? null : { nodeId, announcer }
    const holder = shard === null ? nodeHolder : { ...shard, announcer: cluster.group(shard.groupId)?.announcer }
    return {
      groupIds,
      holder: isHosted ? null : holder,
      hasInnerProxy: cluster.hasInnerProxy(networkId),
      untracked: cluster.isUntracked(networkId),
      ...(returnPath === 'node' ? { hosts: this.#hostsOf(groupIds) } : {}),
    }
  }

  #hostsOf(groupIds: readonly string[]): NonNullable<NetworkUse['hosts']> {
    return this.#nodesOf({ groupIds }).map((node) => ({
      id: node.id,
      name: node.name,
      fabricAddress: fabricAddressOf(node),
    }))
  }

  #nodesOf({ groupIds }: Pick<NetworkUse, 'groupIds'>): readonly Node[] {
    return groupIds.flatMap((groupId) => this.#options.cluster.nodesOf(groupId))
  }

  /**
   * Allocates missing addresses. If a subnet has no free address for a node, that node's domain will lack the subnet.
   */
  async #ensureAddresses(networkId: string, use: NetworkUse): Promise<void> {
    const { view, admission, queue, log } = this.#options
    const network = view.get('network', networkId)?.value
    const nodes = this.#nodesOf(use)
    if (network === undefined || nodes.length === 0) return
    const onSegment = network.subnets.filter(({ reach }) => reach !== 'tunnel').length
    const nodesHave = (): boolean => nodes.every(({ id }) => admission.nodeAddresses(network.id, id).size === onSegment)
    const sharedAreThere = (): boolean =>
      !sharesAddresses(network, use) || admission.sharedAddresses(network.id).size === network.subnets.length
    if (nodesHave() && sharedAreThere()) return
    try {
      // Serialised, because two runs at once would give a node two addresses. Skipped if the previous run has done it.
      await this.#ensuring.run(async () => {
        if (!nodesHave()) await admission.ensureNodeAddresses()
        if (!sharedAreThere()) await admission.ensureSharedAddresses(network.id)
      })
    } catch (error) {
      if (!(error instanceof SpoutError)) throw error
      log.warn(
        { event: 'node-addresses-missing', networkId: network.id, reason: error.message },
        'a network has no addresses for its nodes yet; will try again',
      )
      queue.networkAfter(network.id, ADDRESS_RETRY_MS)
    }
  }
}
