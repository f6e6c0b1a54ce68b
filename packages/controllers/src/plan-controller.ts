import type { ModelView, StoreAdmission } from '@spout/admission'
import {
  type Announce,
  type Kind,
  type LoadBalancer,
  type Network,
  type Node,
  type NodeStateEntry,
  SpoutError,
  type StatusReader,
} from '@spout/model'
import {
  type Announcing,
  advertisementsByPool,
  neededFeatures,
  type PlannedNode,
  planDomain,
  planLoadBalancer,
} from '@spout/plan'
import {
  type Clock,
  type Component,
  done,
  failed,
  type Logger,
  type Outcome,
  Reconciler,
  WorkQueue,
} from '@spout/runtime'
import type { Store } from '@spout/store'
import { ClusterIndex } from './cluster-index.ts'
import { GroupPublisher } from './group-publisher.ts'
import type { NodeLiveness } from './node-liveness.ts'
import type { NodeStateTable } from './node-state-table.ts'
import { PlacementLog } from './placement-log.ts'
import { connectionOf } from './planned-connection.ts'

export interface PlanControllerOptions {
  /** Caught up with the store when `start` is called. */
  readonly view: ModelView
  readonly store: Store
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  /** Tells what nodes' drivers can do. */
  readonly status: StatusReader
  /** Nodes' own addresses in the tenants' networks and on the fabric. */
  readonly admission: Pick<
    StoreAdmission,
    'ensureNodeAddresses' | 'ensureSharedAddresses' | 'nodeAddresses' | 'sharedAddresses' | 'seeFabricAddress'
  >
  readonly clock: Clock
  readonly log: Logger
}

/** What a domain's entries were last made of, as far as load balancers decide it. */
interface PublishedDomain {
  readonly key: string
  readonly gateway: string
  readonly groups: string
}

/** Plans wait for their commit, and commits share a disk flush: so many may wait together. */
const WORKERS = 64
/** A mass of plans lets others run so often: reports and heartbeats must not wait behind it. */
const YIELD_EVERY_MS = 4
const ADDRESS_RETRY_MS = 5000

/**
 * Plans what changed and publishes it: from the model to what every node shall hold.
 *
 * It works on keys: a change leads to the load balancers (`lb/<id>`) and networks (`domain/<network id>`) it touches,
 * bursts on one key coalesce, projects take turns. A plan that differs from the stored placement is made durable, then
 * published: so a restart plans the same bytes again, and nodes have nothing to do.
 */
export class PlanController implements Component {
  readonly name = 'plan-controller'
  readonly #options: PlanControllerOptions
  readonly #cluster: ClusterIndex
  readonly #placements: PlacementLog
  readonly #groups: GroupPublisher
  /** What of a group its load balancers' entries are made of, as one text. */
  readonly #groupWords = new Map<string, string>()
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #features = new Map<string, readonly string[]>()
  readonly #connected = new Set<string>()
  /** By network id. */
  readonly #domains = new Map<string, PublishedDomain>()
  /** Load balancers not planned yet since the start. */
  #unplanned: Set<string> | null = new Set()
  /** The last call of admission for node addresses. */
  #ensuring: Promise<void> = Promise.resolve()
  #yielding: Promise<void> | null = null
  #yieldedAtMs = Number.NEGATIVE_INFINITY
  #inHand = 0
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: PlanControllerOptions) {
    this.#options = options
    this.#cluster = new ClusterIndex(options.view)
    this.#placements = new PlacementLog(options.store)
    this.#groups = new GroupPublisher({ ...options, cluster: this.#cluster })
    this.#queue = new WorkQueue({ clock: options.clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log: options.log,
      reconcile: (key) => this.#reconcile(key),
      workers: WORKERS,
    })
  }

  /** Keys that wait for their plan. */
  get backlog(): number {
    return this.#queue.size
  }

  /** Begins; the node states are ready once every load balancer that is there now was planned. */
  start(): void {
    const { view, liveness, status } = this.#options
    this.#cluster.groupsChanged()
    for (const { id } of view.list('nodeGroup')) this.#groupWords.set(id, this.#wordsOf(id))
    for (const node of view.list('node')) this.#nodeChanged(node.id)
    // A node must know its shards before it hears of what belongs to them.
    this.#groups.publishAll()
    this.#placements.load(view)
    const loadBalancers = view.list('loadBalancer')
    for (const { id } of loadBalancers) this.#cluster.loadBalancerChanged(id)
    this.#unplanned = new Set(loadBalancers.map(({ id }) => id))
    this.#unsubscribe = [
      view.onChange((changed) => this.#changed(changed)),
      liveness.onChange((nodeId) => this.#livenessChanged(nodeId)),
      status.onChange((kind, id) => {
        if (kind === 'node') this.#nodeSpoke(id)
      }),
    ]
    for (const placement of view.list('placement'))
      if (view.get('loadBalancer', placement.id) === null) this.#queue.add(lbKey(placement.id))
    for (const { id, projectId } of loadBalancers) this.#queue.add(lbKey(id), projectId)
    this.#reconciler.start()
    this.#settle()
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#groups.close()
    await this.#reconciler.stop()
  }

  // What changes lead to.

  #changed(changed: readonly { readonly kind: Kind; readonly id: string }[]): void {
    for (const { kind, id } of changed) {
      if (kind === 'loadBalancer') this.#loadBalancerChanged(id)
      else if (kind === 'network') this.#networkChanged(id)
      else if (kind === 'node') this.#nodeChanged(id)
      else if (kind === 'nodeGroup') this.#groupChanged(id)
      else if (kind === 'bgpPeer') this.#groups.publishAll()
      else if (kind === 'bgpAdvertisement') this.#advertisementsChanged()
      else if (kind === 'address') this.#addressChanged(id)
    }
  }

  #loadBalancerChanged(id: string): void {
    this.#cluster.loadBalancerChanged(id)
    this.#plan(id)
  }

  #networkChanged(id: string): void {
    this.#planDomainOf(id)
    this.#planAll(this.#cluster.loadBalancersOfNetwork(id))
  }

  #nodeChanged(id: string): void {
    const { view, liveness } = this.#options
    const before = this.#cluster.groupOfNode(id)
    this.#cluster.nodeChanged(id)
    const after = this.#cluster.groupOfNode(id)
    const node = view.get('node', id)?.value
    if (node?.certificateSha256 != null) liveness.watch(id)
    if (node === undefined) liveness.forget(id)
    for (const groupId of new Set([before, after])) if (groupId !== null) this.#groups.publish(groupId)
    if (before !== after) for (const groupId of [before, after]) this.#planGroup(groupId)
    else if (node?.scheduling === 'draining') this.#planAll(this.#placements.ownedBy(id))
    else if (node?.scheduling === 'enabled') this.#planHomeless(after)
  }

  /** One that goes does so with its node or its subnet, which says it. */
  #addressChanged(id: string): void {
    const address = this.#options.view.get('address', id)?.value
    if (address?.use === 'node') this.#planDomainOf(address.holderId)
  }

  #groupChanged(id: string): void {
    this.#groups.publish(id)
    if (this.#cluster.groupsChanged())
      for (const loadBalancer of this.#options.view.list('loadBalancer')) this.#loadBalancerChanged(loadBalancer.id)
    this.#replanGroup(id)
  }

  #advertisementsChanged(): void {
    this.#groups.publishAll()
    for (const { id } of this.#options.view.list('nodeGroup')) this.#replanGroup(id)
  }

  /** Plans what a group carries when what its entries are made of has changed. */
  #replanGroup(id: string): void {
    const words = this.#wordsOf(id)
    if (words === this.#groupWords.get(id)) return
    this.#groupWords.set(id, words)
    this.#planGroup(id)
  }

  #wordsOf(groupId: string): string {
    const group = this.#cluster.group(groupId)
    if (group === null || group.announcer === 'l2') return 'l2'
    const shards = `${group.vrrp.shards} ${group.name}`
    if (group.announcer === 'vrrp') return `vrrp ${shards}`
    const advertisements = advertisementsByPool(this.#options.view.list('bgpAdvertisement'))
    return `bgp ${shards} ${group.bgp?.policy} ${JSON.stringify(advertisements)}`
  }

  #livenessChanged(nodeId: string): void {
    const liveness = this.#options.liveness.of(nodeId)
    const groupId = this.#cluster.groupOfNode(nodeId)
    // Whether a draining node has a successor depends on who is there; nothing else of a group does.
    if (groupId !== null) this.#groups.publish(groupId)
    if (liveness === 'lost') this.#planAll(this.#placements.ownedBy(nodeId))
    if (liveness === 'lost' || liveness === 'disconnected') this.#connected.delete(nodeId)
    if (liveness !== 'connected' || this.#connected.has(nodeId)) return
    this.#connected.add(nodeId)
    this.#planHomeless(this.#cluster.groupOfNode(nodeId))
    for (const id of this.#placements.ownedBy(nodeId))
      if (this.#placements.index.get(id)?.reason.code !== 'Placed') this.#plan(id)
  }

  #nodeSpoke(nodeId: string): void {
    const { features, fabricAddress } = this.#options.status.node(nodeId)
    this.#featuresChanged(nodeId, features)
    if (fabricAddress !== null && this.#options.view.get('node', nodeId)?.value.seenFabricAddress !== fabricAddress)
      void this.#seeFabricAddress(nodeId, fabricAddress)
  }

  /** Durable, so that after a restart neighbours know each other before they spoke again. */
  async #seeFabricAddress(nodeId: string, address: string): Promise<void> {
    const { admission, log } = this.#options
    try {
      await admission.seeFabricAddress(nodeId, address)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ event: 'fabric-address-refused', nodeId, reason }, 'what the node sees as its address is not taken')
    }
  }

  #featuresChanged(nodeId: string, features: readonly string[]): void {
    const before = this.#features.get(nodeId) ?? []
    if (before.join() === features.join()) return
    this.#features.set(nodeId, features)
    const groupId = this.#cluster.groupOfNode(nodeId)
    this.#planHomeless(groupId)
    for (const id of this.#placements.ownedBy(nodeId)) this.#planIfNeeding(id, features)
    if (groupId === null || before.every((feature) => features.includes(feature))) return
    for (const id of this.#cluster.loadBalancersOfGroup(groupId)) this.#planIfNeeding(id, features)
  }

  /** Plans it when it needs what is not among these. */
  #planIfNeeding(id: string, features: readonly string[]): void {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    if (loadBalancer !== undefined && neededFeatures(loadBalancer).some((need) => !features.includes(need)))
      this.#plan(id)
  }

  #planGroup(groupId: string | null): void {
    if (groupId === null) return
    for (const networkId of this.#cluster.networksOfGroup(groupId)) this.#planDomainOf(networkId)
    this.#planAll(this.#cluster.loadBalancersOfGroup(groupId))
  }

  /** What no node carries, or only a node that is lost or shall be rid of it. */
  #planHomeless(groupId: string | null): void {
    if (groupId === null) return
    const group = this.#cluster.loadBalancersOfGroup(groupId)
    for (const id of this.#placements.ownedBy(null)) if (group.has(id)) this.#plan(id)
    for (const { id, scheduling } of this.#cluster.nodesOf(groupId))
      if (scheduling === 'draining' || this.#options.liveness.of(id) === 'lost')
        this.#planAll(this.#placements.ownedBy(id))
  }

  #planAll(loadBalancerIds: Iterable<string>): void {
    for (const id of loadBalancerIds) this.#plan(id)
  }

  #plan(id: string): void {
    this.#queue.add(lbKey(id), this.#options.view.get('loadBalancer', id)?.value.projectId)
  }

  #planDomainOf(networkId: string | null): void {
    if (networkId !== null)
      this.#queue.add(domainKey(networkId), this.#options.view.get('network', networkId)?.value.projectId)
  }

  // What is done for a key.

  async #reconcile(key: string): Promise<Outcome> {
    this.#inHand++
    try {
      // One alone is done at once: what it would let run first may take longer than itself.
      if (this.#inHand + this.#queue.size > 1) await this.#letOthersRun()
      return await this.#reconcileNow(key)
    } finally {
      this.#inHand--
    }
  }

  async #reconcileNow(key: string): Promise<Outcome> {
    const id = key.slice(key.indexOf('/') + 1)
    try {
      if (key.startsWith('domain/')) await this.#publishDomain(id)
      else await this.#publishLoadBalancer(id)
    } catch (error) {
      if (error instanceof SpoutError) return failed(`${error.code}: ${error.message}`)
      // A bug with one load balancer must not keep all others from their nodes.
      this.#planned(id)
      throw error
    }
    this.#planned(id)
    return done
  }

  async #publishLoadBalancer(id: string): Promise<void> {
    const { view, nodeStates, clock } = this.#options
    const loadBalancer = view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) {
      nodeStates.set(lbKey(id), new Map())
      this.#planDomainOf(this.#placements.index.get(id)?.networkId ?? null)
      return this.#placements.delete(id)
    }
    const network = this.#networkOf(loadBalancer)
    const { index } = this.#placements
    const networkBefore = index.get(id)?.networkId ?? null
    const plan = planLoadBalancer({
      loadBalancer,
      network,
      group: this.#groupOf(loadBalancer),
      announcing: this.#announcingOf(loadBalancer),
      previous: index.get(id),
      gatewayOwnerId: network === null ? null : index.gatewayOwner(network.id),
      freePoolNumber: (after) => (network === null ? null : index.freePoolNumber(network.id, after)),
      now: clock.now().toISOString(),
    })
    await this.#placements.put(plan.placement, loadBalancer.projectId)
    // A node must know the domain before it hears of what lives in it.
    if (network !== null && this.#domainOutdated(network)) await this.#publishDomain(network.id)
    nodeStates.set(lbKey(id), plan.entries)
    if (networkBefore !== network?.id) this.#planDomainOf(networkBefore)
  }

  async #publishDomain(networkId: string): Promise<void> {
    const { view, nodeStates } = this.#options
    const network = view.get('network', networkId)?.value
    const published = this.#domains.get(networkId)
    const nodes = network === undefined ? [] : this.#cluster.nodesOfNetwork(networkId)
    if (network === undefined || nodes.length === 0) {
      this.#domains.delete(networkId)
      if (published !== undefined) nodeStates.set(published.key, new Map())
      return
    }
    const key = `domain/${network.number}`
    const gateway = this.#gatewayWords(networkId)
    this.#domains.set(networkId, { key, gateway, groups: this.#cluster.groupsOfNetwork(networkId) })
    await this.#ensureAddresses(network, nodes)
    const { admission } = this.#options
    const shared = this.#sharesAddresses(network)
    const entries = nodes.map((node): [string, NodeStateEntry] => [
      node.id,
      planDomain(
        network,
        admission.nodeAddresses(networkId, node.id),
        this.#gatewayOn(networkId, node),
        shared ? admission.sharedAddresses(networkId) : undefined,
      ),
    ])
    nodeStates.set(key, new Map(entries))
  }

  /** A subnet that has none left is left out of the domain: its nodes do without. */
  async #ensureAddresses(network: Network, nodes: readonly Node[]): Promise<void> {
    const { admission, log } = this.#options
    const nodesHave = (): boolean =>
      nodes.every(({ id }) => admission.nodeAddresses(network.id, id).size === network.subnets.length)
    const sharedAreThere = (): boolean =>
      !this.#sharesAddresses(network) || admission.sharedAddresses(network.id).size === network.subnets.length
    if (nodesHave() && sharedAreThere()) return
    // One at a time, and only if the one before did not do it: two at once would give a node two addresses.
    const turn = this.#ensuring.then(async () => {
      if (!nodesHave()) await admission.ensureNodeAddresses()
      if (!sharedAreThere()) await admission.ensureSharedAddresses(network.id)
    })
    this.#ensuring = turn.catch(() => {})
    try {
      await turn
    } catch (error) {
      if (!(error instanceof SpoutError)) throw error
      log.warn({ event: 'node-addresses-missing', networkId: network.id, reason: error.message }, 'will try again')
      this.#queue.addAfter(domainKey(network.id), ADDRESS_RETRY_MS, network.projectId)
    }
  }

  #domainOutdated({ id }: Network): boolean {
    const published = this.#domains.get(id)
    if (published === undefined || published.groups !== this.#cluster.groupsOfNetwork(id)) return true
    return published.gateway !== this.#gatewayWords(id)
  }

  /** Who answers for the network's gateways, as a text to compare. */
  #gatewayWords(networkId: string): string {
    const { index } = this.#placements
    const shard = index.gatewayShard(networkId)
    if (shard === null) return index.gatewayOwner(networkId) ?? ''
    return `${shard.groupId} ${shard.number} ${this.#cluster.group(shard.groupId)?.announcer}`
  }

  /**
   * Whether members see one address whichever node carries the network: where one node at a time does. With BGP all do
   * at once, and replies must come back to the one that asked.
   */
  #sharesAddresses({ id, returnPath }: Network): boolean {
    const shard = this.#placements.index.gatewayShard(id)
    return returnPath === 'snat' && shard !== null && this.#cluster.group(shard.groupId)?.announcer === 'vrrp'
  }

  #gatewayOn(networkId: string, { id, nodeGroupId }: Node): Announce | null {
    const { index } = this.#placements
    const shard = index.gatewayShard(networkId)
    if (shard !== null) return shard.groupId === nodeGroupId ? { via: 'vrrp', shard: shard.number } : null
    return id === index.gatewayOwner(networkId) ? { via: 'l2' } : null
  }

  #announcingOf(loadBalancer: LoadBalancer): Announcing {
    const groupId = this.#cluster.groupIdOf(loadBalancer)
    const group = this.#cluster.group(groupId)
    if (group === null || group.announcer === 'l2') return { via: 'l2' }
    const { index } = this.#placements
    const { networkId } = loadBalancer
    const { shards } = group.vrrp
    const sharding = {
      groupId,
      shards,
      networkShard: networkId === null ? null : index.shardOf(networkId, groupId),
      freestShard: index.freestShard(groupId, shards),
    }
    if (group.announcer === 'vrrp' || group.bgp === null) return { via: 'vrrp', ...sharding }
    const advertisements = advertisementsByPool(this.#options.view.list('bgpAdvertisement'))
    return { via: 'bgp', policy: group.bgp.policy, advertisements, ...sharding }
  }

  #networkOf({ networkId }: LoadBalancer): Network | null {
    return networkId === null ? null : (this.#options.view.get('network', networkId)?.value ?? null)
  }

  #groupOf(loadBalancer: LoadBalancer): { readonly name: string; readonly nodes: readonly PlannedNode[] } {
    const { liveness, status } = this.#options
    const groupId = this.#cluster.groupIdOf(loadBalancer)
    const nodes = this.#cluster.nodesOf(groupId).map(
      (node): PlannedNode => ({
        id: node.id,
        name: node.name,
        scheduling: node.scheduling,
        connection: connectionOf(node, liveness.of(node.id)),
        features: status.node(node.id).features,
        loadBalancers: this.#placements.index.ownedBy(node.id),
      }),
    )
    return { name: this.#cluster.groupName(groupId), nodes }
  }

  async #letOthersRun(): Promise<void> {
    const { clock } = this.#options
    if (this.#yielding === null && clock.monotonicMs() - this.#yieldedAtMs < YIELD_EVERY_MS) return
    this.#yielding ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#yielding = null
        this.#yieldedAtMs = clock.monotonicMs()
        resolve()
      }),
    )
    await this.#yielding
  }

  #planned(id: string): void {
    this.#unplanned?.delete(id)
    this.#settle()
  }

  #settle(): void {
    if (this.#unplanned === null || this.#unplanned.size > 0) return
    this.#unplanned = null
    this.#options.nodeStates.markReady()
    this.#options.log.info({ event: 'node-states-ready' }, 'every load balancer is planned')
  }
}

const lbKey = (id: string): string => `lb/${id}`
const domainKey = (networkId: string): string => `domain/${networkId}`
