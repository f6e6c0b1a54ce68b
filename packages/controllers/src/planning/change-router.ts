import type { ModelView, NodeAddressAdmission } from '@spout/admission/contract'
import { FABRIC_OF_GROUP, type Kind, type StatusReader } from '@spout/model'
import { neededFeatures } from '@spout/plan'
import type { Clock, Logger, Timer } from '@spout/runtime'
import type { CarryingGroups } from '../indexes/carrying-groups.ts'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { ReadByDomains } from '../publishing/domain-publisher.ts'
import type { GroupPublisher, ReadByGroups } from '../publishing/group-publisher.ts'
import type { ReadByLoadBalancers } from '../publishing/load-balancer-publisher.ts'
import type { Planned, PlanQueue } from '../publishing/plan-queue.ts'
import { unsettledOf } from './unsettled.ts'

export interface ChangeRouterOptions {
  readonly view: ModelView
  readonly cluster: ClusterIndex
  readonly carryingGroups: CarryingGroups
  readonly placements: PlacementLog
  readonly groups: GroupPublisher
  readonly queue: PlanQueue
  readonly liveness: NodeLiveness
  readonly status: StatusReader
  readonly admission: Pick<NodeAddressAdmission, 'seeFabricAddress'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The kinds whose changes cause new plans: all that plans read, except classes of load balancers. The settings of a
 * class cannot change while a load balancer uses it.
 */
type Followed = ReadByLoadBalancers | ReadByDomains | ReadByGroups

/** Minimum time between two writes of a node's address, however often the node reports another. */
const SEE_AGAIN_MS = 1000

/**
 * Finds out what a change of the model, of liveness or of a report affects: it queues the load balancers and networks
 * that must be planned again, and publishes the groups.
 */
export class ChangeRouter {
  readonly #options: ChangeRouterOptions
  readonly #view: ModelView
  readonly #cluster: ClusterIndex
  readonly #placements: PlacementLog
  readonly #groups: GroupPublisher
  readonly #queue: PlanQueue
  readonly #features = new Map<string, readonly string[]>()
  /**
   * By id of nodes whose address was stored just now. Such a node may report it again before the view shows the write.
   */
  readonly #seeing = new Map<string, Timer>()
  readonly #connected = new Set<string>()
  #unsubscribe: readonly (() => void)[] = []
  readonly #routes: { readonly [K in Followed]: (id: string) => void } = {
    loadBalancer: (id) => this.#loadBalancerChanged(id),
    network: (id) => this.#networkChanged(id),
    certificate: (id) => this.#queue.loadBalancers(this.#cluster.loadBalancersOfCertificate(id)),
    securityGroup: (id) => this.#queue.loadBalancers(this.#cluster.loadBalancersOfSecurityGroup(id)),
    node: (id) => this.#nodeChanged(id),
    nodeGroup: (id) => this.#groupChanged(id),
    bgpPeer: () => this.#groups.publishAll(),
    bgpAdvertisement: () => this.#advertisementsChanged(),
    address: (id) => this.#addressChanged(id),
  }

  constructor(options: ChangeRouterOptions) {
    this.#options = options
    this.#view = options.view
    this.#cluster = options.cluster
    this.#placements = options.placements
    this.#groups = options.groups
    this.#queue = options.queue
  }

  /**
   * Reads the existing groups and nodes, and publishes nothing: while some nodes are not expected yet, they count as
   * lost, and a drain that waits for them would begin.
   */
  load(): void {
    this.#cluster.groupsChanged()
    for (const { id } of this.#view.list('nodeGroup')) this.#options.carryingGroups.refresh(id)
    for (const { id } of this.#view.list('node')) this.#expect(id)
  }

  /** Follows changes of the model, of liveness and of node reports. */
  follow(): void {
    const { liveness, status } = this.#options
    this.#unsubscribe = [
      this.#view.onChange((changed) => this.#route(changed)),
      liveness.onChange((nodeId) => this.#livenessChanged(nodeId)),
      status.onChange((kind, id) => {
        if (kind === 'node') this.#nodeReported(id)
      }),
    ]
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const timer of this.#seeing.values()) timer.clear()
    this.#seeing.clear()
  }

  #route(changed: readonly { readonly kind: Kind; readonly id: string }[]): void {
    const routes: { readonly [K in Kind]?: (id: string) => void } = this.#routes
    for (const { kind, id } of changed) routes[kind]?.(id)
  }

  #loadBalancerChanged(id: string): void {
    this.#cluster.loadBalancerChanged(id)
    this.#queue.loadBalancer(id)
  }

  #networkChanged(id: string): void {
    this.#queue.network(id)
    this.#queue.loadBalancers(this.#cluster.loadBalancersOfNetwork(id))
  }

  #nodeChanged(id: string): void {
    const before = this.#cluster.groupOfNode(id)
    this.#expect(id)
    const after = this.#cluster.groupOfNode(id)
    if (before !== null && after !== null && before !== after) {
      this.#nodeMoved(id, before, after)
      return
    }
    for (const groupId of new Set([before, after])) if (groupId !== null) this.#groups.publish(groupId)
    if (before !== after) for (const groupId of [before, after]) this.#planGroup(groupId)
    else {
      this.#planUnsettled(after)
      this.#planHosting(after)
    }
  }

  /**
   * Shards have the same numbers in every group: with its part in the new one, the node would announce the addresses of
   * the former one. So it loses these first.
   */
  #nodeMoved(id: string, before: string, after: string): void {
    const arrived = this.#groups.arrives(id)
    for (const groupId of [before, after]) this.#groups.publish(groupId)
    this.#planGroup(after)
    this.#queue.planThen(this.#plannedFor(before), arrived)
  }

  /** Notes the node's group, and expects its reports while it exists. */
  #expect(id: string): void {
    const { liveness } = this.#options
    this.#cluster.nodeChanged(id)
    const node = this.#view.get('node', id)?.value
    if (node?.certificateSha256 != null) liveness.watch(id)
    if (node === undefined) liveness.forget(id)
  }

  /** The other nodes reach a node's members by its address. */
  #planHosting(groupId: string | null): void {
    if (groupId === null) return
    for (const id of this.#cluster.networksOfGroup(groupId))
      if (this.#view.get('network', id)?.value.returnPath === 'node') this.#queue.network(id)
  }

  /** A deleted address needs no new plan: it was deleted with its node or subnet, and that change is routed. */
  #addressChanged(id: string): void {
    const address = this.#view.get('address', id)?.value
    if (address?.use === 'node') this.#queue.network(address.holderId)
  }

  #groupChanged(id: string): void {
    this.#groups.publish(id)
    if (this.#cluster.groupsChanged())
      for (const loadBalancer of this.#view.list('loadBalancer')) this.#loadBalancerChanged(loadBalancer.id)
    this.#replanGroup(id)
  }

  #advertisementsChanged(): void {
    this.#groups.publishAll()
    for (const { id } of this.#view.list('nodeGroup')) this.#replanGroup(id)
  }

  #replanGroup(id: string): void {
    if (this.#options.carryingGroups.refresh(id)) this.#planGroup(id)
  }

  #livenessChanged(nodeId: string): void {
    const liveness = this.#options.liveness.of(nodeId)
    const groupId = this.#cluster.groupOfNode(nodeId)
    // A group's plan depends on liveness: a draining node needs a live successor, and silent nodes are probed.
    if (groupId !== null) this.#groups.publish(groupId)
    if (liveness === 'lost') this.#planUnsettled(groupId)
    if (liveness === 'lost' || liveness === 'disconnected') this.#connected.delete(nodeId)
    if (liveness !== 'connected' || this.#connected.has(nodeId)) return
    this.#connected.add(nodeId)
    this.#planUnsettled(groupId)
  }

  #nodeReported(nodeId: string): void {
    const { features, fabricAddress } = this.#options.status.node(nodeId)
    this.#featuresChanged(nodeId, features)
    if (fabricAddress === null || this.#seeing.has(nodeId)) return
    const node = this.#view.get('node', nodeId)?.value
    if (node !== undefined && node.seenFabricAddress !== fabricAddress)
      void this.#seeFabricAddress(nodeId, fabricAddress)
  }

  /** Stores a node's address, so that after a restart the nodes of a group know each other before they report again. */
  async #seeFabricAddress(nodeId: string, address: string): Promise<void> {
    const { admission, clock, log } = this.#options
    const again = () => {
      this.#seeing.delete(nodeId)
      const now = this.#options.status.node(nodeId).fabricAddress
      if (now !== address) this.#nodeReported(nodeId)
    }
    const timer = clock.setTimer(again, SEE_AGAIN_MS)
    this.#seeing.set(nodeId, timer)
    try {
      await admission.seeFabricAddress(nodeId, address)
    } catch (error) {
      // Nothing was stored, so the next report is handled at once.
      timer.clear()
      this.#seeing.delete(nodeId)
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ event: 'fabric-address-refused', nodeId, reason }, 'the address that the node reports is refused')
    }
  }

  #featuresChanged(nodeId: string, features: readonly string[]): void {
    const before = this.#features.get(nodeId) ?? []
    if (before.join() === features.join()) return
    this.#features.set(nodeId, features)
    const groupId = this.#cluster.groupOfNode(nodeId)
    if (groupId !== null && before.includes(FABRIC_OF_GROUP) !== features.includes(FABRIC_OF_GROUP))
      this.#groups.publish(groupId)
    this.#planUnsettled(groupId)
    for (const id of this.#placements.ownedBy(nodeId)) this.#planIfNeeding(id, features)
    if (groupId === null || before.every((feature) => features.includes(feature))) return
    for (const id of this.#cluster.loadBalancersOfGroup(groupId)) this.#planIfNeeding(id, features)
  }

  /** Queues a load balancer if it needs a feature that is not among these. */
  #planIfNeeding(id: string, features: readonly string[]): void {
    const loadBalancer = this.#view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) return
    const network = this.#view.get('network', loadBalancer.networkId ?? '')?.value
    const { namesFabric } = this.#options.carryingGroups.of(this.#cluster.groupIdOf(loadBalancer))
    const around = { ...this.#cluster.classOf(loadBalancer), namesFabric }
    const needs = neededFeatures(loadBalancer, network?.returnPath ?? null, around)
    if (needs.some((need) => !features.includes(need))) this.#queue.loadBalancer(id)
  }

  #planGroup(groupId: string | null): void {
    if (groupId === null) return
    this.#queue.plan(this.#plannedFor(groupId))
  }

  /** Ids of what the nodes of a group carry. */
  #plannedFor(groupId: string): Planned {
    return {
      networks: this.#cluster.networksOfGroup(groupId),
      loadBalancers: this.#cluster.loadBalancersOfGroup(groupId),
    }
  }

  /** Queues the group's load balancers that are not settled, or whose owner is lost or draining. */
  #planUnsettled(groupId: string | null): void {
    if (groupId === null) return
    this.#queue.loadBalancers(unsettledOf(this.#options, groupId))
  }
}
