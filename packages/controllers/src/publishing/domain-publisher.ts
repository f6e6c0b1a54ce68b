import type { ModelView, NodeAddressAdmission } from '@spout/admission/contract'
import {
  type Announce,
  type DomainEntry,
  domainKey,
  type Network,
  type Node,
  type NodeStateEntry,
  SpoutError,
} from '@spout/model'
import { type DomainUse, planDomain } from '@spout/plan'
import { type Logger, Mutex } from '@spout/runtime'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { PlanQueue } from './plan-queue.ts'

export interface DomainPublisherOptions {
  readonly view: ModelView
  readonly cluster: ClusterIndex
  readonly placements: PlacementLog
  readonly queue: PlanQueue
  readonly nodeStates: NodeStateTable
  /** For the nodes' own addresses in tenant networks. */
  readonly admission: Omit<NodeAddressAdmission, 'seeFabricAddress'>
  readonly log: Logger
}

/** What a domain's entries were last made of, as far as load balancers decide it. */
interface PublishedDomain {
  readonly key: string
  readonly gateway: string
  readonly groups: string
  readonly hasInnerProxy: boolean
  readonly untracked: boolean
}

const ADDRESS_RETRY_MS = 5000

/** Publishes domains: the entries of a tenant network, to the nodes of all groups that carry its load balancers. */
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

  /** Resolves when everything that the network's load balancers need of it is published. */
  async bringUpToDate(networkId: string): Promise<void> {
    while (this.#isOutdated(networkId)) {
      const underWay = this.#underWay.get(networkId)
      if (underWay === undefined) return this.publish(networkId)
      await underWay
    }
  }

  #isOutdated(networkId: string): boolean {
    const published = this.#published.get(networkId)
    if (published === undefined) return true
    const now = this.#madeOf(networkId)
    return (Object.keys(now) as (keyof typeof now)[]).some((part) => now[part] !== published[part])
  }

  /**
   * Resolves when nodes were told of the network. Waiting for node addresses takes time, and the network may change
   * meanwhile: nodes get it as it is after the wait. The record of what it was made from dates from before the wait, so a
   * change in between publishes it once more.
   */
  async publish(networkId: string): Promise<void> {
    const work = this.#publish(networkId)
    this.#underWay.set(networkId, work)
    try {
      await work
    } finally {
      if (this.#underWay.get(networkId) === work) this.#underWay.delete(networkId)
    }
  }

  async #publish(networkId: string): Promise<void> {
    const { view, cluster } = this.#options
    const network = view.get('network', networkId)?.value
    const nodes = cluster.nodesOfNetwork(networkId)
    const made = this.#madeOf(networkId)
    if (network !== undefined && nodes.length > 0) await this.#ensureAddresses(network, nodes)
    this.#publishNow(networkId, made)
  }

  #publishNow(networkId: string, made: Omit<PublishedDomain, 'key'>): void {
    const { view, cluster, nodeStates, admission } = this.#options
    const network = view.get('network', networkId)?.value
    const published = this.#published.get(networkId)
    const nodes = network === undefined ? [] : cluster.nodesOfNetwork(networkId)
    if (network === undefined || nodes.length === 0) {
      this.#published.delete(networkId)
      if (published !== undefined) nodeStates.set(published.key, new Map())
      return
    }
    const use: DomainUse = {
      ...(this.#sharesAddresses(network) ? { sharedAddresses: admission.sharedAddresses(networkId) } : {}),
      // One object for the entries of all nodes.
      ...(cluster.hasInnerProxy(networkId) ? { allAddresses: this.#addressesOf(network, nodes) } : {}),
      untracked: cluster.isUntracked(networkId),
    }
    const entries = nodes.map((node): [string, NodeStateEntry] => [
      node.id,
      planDomain(network, admission.nodeAddresses(networkId, node.id), this.#gatewayOn(networkId, node), use),
    ])
    const key = domainKey(network.number)
    nodeStates.set(key, new Map(entries))
    this.#published.set(networkId, { key, ...made })
  }

  #madeOf(networkId: string): Omit<PublishedDomain, 'key'> {
    const { cluster } = this.#options
    return {
      gateway: this.#gatewayWords(networkId),
      groups: cluster.groupsOfNetwork(networkId),
      hasInnerProxy: cluster.hasInnerProxy(networkId),
      untracked: cluster.isUntracked(networkId),
    }
  }

  #addressesOf({ id }: Network, nodes: readonly Node[]): DomainEntry['nodeAddresses'] {
    const { admission } = this.#options
    return Object.fromEntries(nodes.map((node) => [node.id, [...admission.nodeAddresses(id, node.id).values()]]))
  }

  /** A subnet that has none left is left out of the domain: its nodes do without. */
  async #ensureAddresses(network: Network, nodes: readonly Node[]): Promise<void> {
    const { admission, queue, log } = this.#options
    const onSegment = network.subnets.filter(({ reach }) => reach !== 'tunnel').length
    const nodesHave = (): boolean => nodes.every(({ id }) => admission.nodeAddresses(network.id, id).size === onSegment)
    const sharedAreThere = (): boolean =>
      !this.#sharesAddresses(network) || admission.sharedAddresses(network.id).size === network.subnets.length
    if (nodesHave() && sharedAreThere()) return
    try {
      // Serialised, and skipped if the previous run did it: two at once would give a node two addresses.
      await this.#ensuring.run(async () => {
        if (!nodesHave()) await admission.ensureNodeAddresses()
        if (!sharedAreThere()) await admission.ensureSharedAddresses(network.id)
      })
    } catch (error) {
      if (!(error instanceof SpoutError)) throw error
      log.warn({ event: 'node-addresses-missing', networkId: network.id, reason: error.message }, 'will try again')
      queue.networkAfter(network.id, ADDRESS_RETRY_MS)
    }
  }

  /** Who answers for the network's gateways, as a text to compare. */
  #gatewayWords(networkId: string): string {
    const { cluster, placements } = this.#options
    const shard = placements.index.gatewayShard(networkId)
    if (shard === null) return placements.index.gatewayOwner(networkId) ?? ''
    return `${shard.groupId} ${shard.number} ${cluster.group(shard.groupId)?.announcer}`
  }

  /** Whether members see one address whichever node carries the network: where it is in a shard, one node at a time does. */
  #sharesAddresses({ id, returnPath }: Network): boolean {
    return returnPath === 'snat' && this.#options.placements.index.gatewayShard(id) !== null
  }

  #gatewayOn(networkId: string, { id, nodeGroupId }: Node): Announce | null {
    const { index } = this.#options.placements
    const shard = index.gatewayShard(networkId)
    if (shard !== null) return shard.groupId === nodeGroupId ? { via: 'vrrp', shard: shard.number } : null
    return id === index.gatewayOwner(networkId) ? { via: 'l2' } : null
  }
}
