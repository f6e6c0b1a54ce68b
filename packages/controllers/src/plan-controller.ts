import type { ModelView, StoreAdmission } from '@spout/admission'
import {
  type Kind,
  type LoadBalancer,
  type Network,
  type Node,
  type NodeStateEntry,
  SpoutError,
  type StatusReader,
} from '@spout/model'
import { neededFeatures, type PlannedNode, planDomain, planLoadBalancer } from '@spout/plan'
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
import type { Liveness, NodeLiveness } from './node-liveness.ts'
import type { NodeStateTable } from './node-state-table.ts'
import { PlacementLog } from './placement-log.ts'

export interface PlanControllerOptions {
  /** Caught up with the store when `start` is called. */
  readonly view: ModelView
  readonly store: Store
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  /** Tells what nodes' drivers can do. */
  readonly status: StatusReader
  /** Nodes' own addresses in the tenants' networks. */
  readonly admission: Pick<StoreAdmission, 'ensureNodeAddresses' | 'nodeAddresses'>
  readonly clock: Clock
  readonly log: Logger
}

/** What a domain's entries were last made of, as far as load balancers decide it. */
interface PublishedDomain {
  readonly key: string
  readonly gatewayOwner: string | null
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
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #features = new Map<string, string>()
  readonly #connected = new Set<string>()
  /** By network id. */
  readonly #domains = new Map<string, PublishedDomain>()
  /** Load balancers not planned yet since the start. */
  #unplanned: Set<string> | null = new Set()
  /** The last call of admission for node addresses. */
  #ensuring: Promise<void> = Promise.resolve()
  #yielding: Promise<void> | null = null
  #yieldedAtMs = Number.NEGATIVE_INFINITY
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: PlanControllerOptions) {
    this.#options = options
    this.#cluster = new ClusterIndex(options.view)
    this.#placements = new PlacementLog(options.store)
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
    for (const node of view.list('node')) this.#nodeChanged(node.id)
    this.#placements.load(view)
    const loadBalancers = view.list('loadBalancer')
    for (const { id } of loadBalancers) this.#cluster.loadBalancerChanged(id)
    this.#unplanned = new Set(loadBalancers.map(({ id }) => id))
    this.#unsubscribe = [
      view.onChange((changed) => this.#changed(changed)),
      liveness.onChange((nodeId) => this.#livenessChanged(nodeId)),
      status.onChange((kind, id) => {
        if (kind === 'node') this.#featuresChanged(id)
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
    await this.#reconciler.stop()
  }

  // What changes lead to.

  #changed(changed: readonly { readonly kind: Kind; readonly id: string }[]): void {
    for (const { kind, id } of changed) {
      if (kind === 'loadBalancer') this.#loadBalancerChanged(id)
      else if (kind === 'network') this.#networkChanged(id)
      else if (kind === 'node') this.#nodeChanged(id)
      else if (kind === 'nodeGroup') this.#groupsChanged()
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
    if (before !== after) for (const groupId of [before, after]) this.#planGroup(groupId)
    else if (node?.scheduling === 'draining') this.#planAll(this.#placements.ownedBy(id))
    else if (node?.scheduling === 'enabled') this.#planHomeless(after)
  }

  /** One that goes does so with its node or its subnet, which says it. */
  #addressChanged(id: string): void {
    const address = this.#options.view.get('address', id)?.value
    if (address?.use === 'node') this.#planDomainOf(address.holderId)
  }

  #groupsChanged(): void {
    if (!this.#cluster.groupsChanged()) return
    for (const { id } of this.#options.view.list('loadBalancer')) this.#loadBalancerChanged(id)
  }

  #livenessChanged(nodeId: string): void {
    const liveness = this.#options.liveness.of(nodeId)
    if (liveness === 'lost') this.#planAll(this.#placements.ownedBy(nodeId))
    if (liveness === 'lost' || liveness === 'disconnected') this.#connected.delete(nodeId)
    if (liveness !== 'connected' || this.#connected.has(nodeId)) return
    this.#connected.add(nodeId)
    this.#planHomeless(this.#cluster.groupOfNode(nodeId))
    for (const id of this.#placements.ownedBy(nodeId))
      if (this.#placements.index.get(id)?.reason.code !== 'Placed') this.#plan(id)
  }

  #featuresChanged(nodeId: string): void {
    const { features } = this.#options.status.node(nodeId)
    if ((this.#features.get(nodeId) ?? '') === features.join()) return
    this.#features.set(nodeId, features.join())
    this.#planHomeless(this.#cluster.groupOfNode(nodeId))
    for (const id of this.#placements.ownedBy(nodeId)) {
      const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
      if (loadBalancer !== undefined && neededFeatures(loadBalancer).some((need) => !features.includes(need)))
        this.#plan(id)
    }
  }

  #planGroup(groupId: string | null): void {
    if (groupId === null) return
    for (const networkId of this.#cluster.networksOfGroup(groupId)) this.#planDomainOf(networkId)
    this.#planAll(this.#cluster.loadBalancersOfGroup(groupId))
  }

  /** What no node carries, or only a node that is lost. */
  #planHomeless(groupId: string | null): void {
    if (groupId === null) return
    const group = this.#cluster.loadBalancersOfGroup(groupId)
    for (const id of this.#placements.ownedBy(null)) if (group.has(id)) this.#plan(id)
    for (const { id } of this.#cluster.nodesOf(groupId))
      if (this.#options.liveness.of(id) === 'lost') this.#planAll(this.#placements.ownedBy(id))
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
    await this.#letOthersRun()
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
    const gatewayOwner = this.#placements.index.gatewayOwner(networkId)
    const key = `domain/${network.number}`
    this.#domains.set(networkId, { key, gatewayOwner, groups: this.#cluster.groupsOfNetwork(networkId) })
    await this.#ensureAddresses(network, nodes)
    const { admission } = this.#options
    const entries = nodes.map(({ id }): [string, NodeStateEntry] => [
      id,
      planDomain(network, admission.nodeAddresses(networkId, id), id === gatewayOwner ? { via: 'l2' } : null),
    ])
    nodeStates.set(key, new Map(entries))
  }

  /** A subnet that has none left is left out of the domain: its nodes do without. */
  async #ensureAddresses(network: Network, nodes: readonly Node[]): Promise<void> {
    const { admission, log } = this.#options
    const complete = (): boolean =>
      nodes.every(({ id }) => admission.nodeAddresses(network.id, id).size === network.subnets.length)
    if (complete()) return
    // One at a time, and only if the one before did not do it: two at once would give a node two addresses.
    const turn = this.#ensuring.then(() => (complete() ? undefined : admission.ensureNodeAddresses()))
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
    return published.gatewayOwner !== this.#placements.index.gatewayOwner(id)
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
        connection: node.certificateSha256 === null ? 'never' : connectionOf(liveness.of(node.id)),
        features: status.node(node.id).features,
        loadBalancers: this.#placements.index.ownedBy(node.id),
      }),
    )
    return { name: this.#cluster.group(groupId).name, nodes }
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

/**
 * A node that was not heard of since the start counts as connected, with features unknown: then what it owns is planned
 * to the same bytes again, and nothing new is given to it before it speaks.
 */
const connectionOf = (liveness: Liveness): PlannedNode['connection'] => (liveness === 'new' ? 'connected' : liveness)

const lbKey = (id: string): string => `lb/${id}`
const domainKey = (networkId: string): string => `domain/${networkId}`
