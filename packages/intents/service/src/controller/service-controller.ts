import {
  bringRoutes,
  Dependents,
  type EligibleNode,
  eligibleNodes,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  podRoutes,
  Restoration,
  SHORTLY_MS,
  Stale,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { done, failed, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { ownershipOf } from '../to-model/ownership.ts'
import { servicesOf } from '../to-model/services-of.ts'
import { secretOf } from '../to-model/tls.ts'
import type { ClusterChange } from './cluster.ts'
import { type ControllerContext, REFUSED_RETRY_MS, type ServiceControllerOptions } from './context.ts'
import { release } from './release.ts'
import { ServiceIndex } from './service-index.ts'
import { StatusWriter } from './status-writer.ts'
import { UnitBalancer } from './unit-balancer.ts'

export type { ServiceControllerOptions, ServiceControllerSettings } from './context.ts'

export interface ServiceControllerCounters {
  readonly services: number
  readonly loadBalancers: number
  /** Services whose request is refused. */
  readonly refused: number
  /** Keys to look at, without refused Services that are only tried again now and then. */
  readonly queued: number
  readonly statusWrites: number
}

/**
 * Keys that are processed concurrently. A worker mostly waits: twice for the API server and once for the control
 * plane's store. It equals the number of load balancers that the control plane creates in one call.
 */
const WORKERS = 256
/** With more queued keys than this, a status is written only after the nodes have answered: addresses come first. */
const MASS = 64
/** How long a creation waits to share a call, per queued key: a shared call costs less. */
const PATIENCE_PER_KEY_MS = 0.2
const MOST_PATIENCE_MS = 500
const NOT_READY_RETRY_MS = 200
const ROUTES_IN_USE_RETRY_MS = 1000
/** Services wait until routes to pods were set once, and are then queued again. This is the pause if they are not. */
const ROUTES_LOOK_MS = 1000

const UNIT = 'unit/'
const LEAVE = 'leave/'
const ROUTES = 'routes'
const NODES = 'nodes'

/**
 * Keeps load balancers as the Services of a cluster request them, and the Services' statuses as the load balancers are.
 *
 * The queue holds keys, not events: `unit/...` for the Services of one address, `leave/namespace/name` for a Service
 * that goes. A worker reads both sides and writes the difference. It may run at any time; after a restart it finds
 * nothing to do. Namespaces take turns.
 */
export class ServiceController {
  readonly name = 'service-controller'
  readonly #context: ControllerContext
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #units: UnitBalancer
  readonly #stop = new AbortController()
  #nodes: readonly EligibleNode[] = []
  #nodesStale = true
  /**
   * Whether the routes to pods were set once, or failed. Before that, members behind a missing route would be refused.
   */
  #routesLooked: boolean
  /** The control plane listed nothing of this cluster, and the reason has not been examined yet. */
  #listedNothing = false
  #isComplete = false
  #following: Promise<unknown> | null = null
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: ServiceControllerOptions) {
    const { cluster, service, settings, clock, log, workers = WORKERS } = options
    this.#context = {
      ...options,
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'service', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      restoration: new Restoration(clock),
      index: new ServiceIndex(),
      statuses: new StatusWriter(
        cluster,
        clock,
        (key) => this.#addUnitOf(key),
        () => this.#queue.waiting > MASS,
      ),
      busy: new Map(),
      withdrawing: new Map(),
      working: new Set(),
      secrets: new Dependents(),
      departed: new Set(),
      patienceMs: () => {
        const { waiting } = this.#queue
        return waiting > MASS ? Math.min(MOST_PATIENCE_MS, waiting * PATIENCE_PER_KEY_MS) : 0
      },
      addUnit: (unit) => this.#addUnit(unit),
      addLeaving: (key) => this.#addLeaving(key),
    }
    this.#routesLooked = settings.routesOfNetwork === null
    this.#units = new UnitBalancer(this.#context)
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log,
      workers,
      reconcile: (key) => this.#look(key),
    })
  }

  get counters(): ServiceControllerCounters {
    const { index, known, statuses } = this.#context
    return {
      services: index.count('ours'),
      loadBalancers: known.size,
      refused: this.#units.refusedServices,
      queued:
        this.#queue.size - this.#units.refusedUnits.filter((unit) => this.#queue.isPaused(`${UNIT}${unit}`)).length,
      statusWrites: statuses.writes,
    }
  }

  /** The load balancers of this cluster in the project. */
  get known(): KnownLoadBalancers {
    return this.#context.known
  }

  /** Whether both sides were read; nothing is decided before. */
  get ready(): boolean {
    const { cluster, known, networks } = this.#context
    return cluster.ready && known.listed && networks.listed
  }

  start(): void {
    const { cluster, known, pools, networks, certificates } = this.#context
    this.#unsubscribe = [
      cluster.onChange((change) => this.#changed(change)),
      known.onChange((documents) => this.#shown(documents)),
      ...(certificates === undefined ? [] : [certificates.onChange((key) => this.#secretChanged(key))]),
    ]
    for (const service of cluster.services()) this.#changed({ type: 'service', key: keyOf(service) })
    this.#changed({ type: 'nodes' })
    this.#following = Promise.all([known, pools, networks].map((one) => one.follow(this.#stop.signal)))
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
    this.#context.statuses.close()
    await this.#following
  }

  #changed(change: ClusterChange): void {
    if (change.type === 'nodes') this.#nodesChanged()
    else if (change.type === 'service') this.#serviceChanged(change.key)
    else this.#addUnitOf(change.key)
  }

  #serviceChanged(key: string): void {
    const { cluster, settings, index, known, statuses, departed } = this.#context
    const service = cluster.service(key)
    const ownership = service === undefined ? 'foreign' : ownershipOf(service, settings)
    const { before, after } = index.put(key, service, ownership)
    this.#nameSecret(key, service, ownership === 'ours')
    if (service !== undefined) statuses.seen(service)
    if (before !== null && before.uid !== after?.uid) {
      statuses.forget(before.uid)
      if (known.ofUid(before.uid).length > 0) departed.add(before.uid)
    }
    if (before?.unit != null && after !== null && after.unit === null) statuses.forget(after.uid)
    for (const unit of new Set([before?.unit, after?.unit])) if (unit != null) this.#addUnit(unit)
    const leaves = ownership === 'deleting' || ownership === 'released'
    // A Service that was never ours leaves nothing behind.
    if (leaves || known.ofKey(key).length > 0) this.#addLeaving(key)
  }

  /** Says which Secret a Service of ours names. */
  #nameSecret(key: string, service: Service | undefined, isOurs: boolean): void {
    const secret = service === undefined || !isOurs ? null : secretOf(service)
    const secrets = new Set(secret === null ? [] : [secret])
    this.#context.secrets.depend(key, secrets)
    this.#context.certificates?.name(`service/${key}`, secrets)
  }

  #secretChanged(secret: string): void {
    for (const key of this.#context.secrets.of(secret)) {
      const unit = this.#context.index.get(key)?.unit
      if (unit == null) continue
      this.#units.unsettle(unit)
      this.#addUnit(unit)
    }
  }

  /** Nodes come one by one, a thousand at a start, so they are read only when needed. */
  #nodesChanged(): void {
    this.#nodesStale = true
    this.#queue.add(NODES)
    if (this.#context.settings.routesOfNetwork !== null) this.#queue.add(ROUTES)
  }

  /** Members, families and routers that had no subnet may have one now. */
  #networksChanged(): void {
    this.#units.leftOut.forgetAll()
    if (this.#context.settings.routesOfNetwork !== null) this.#queue.add(ROUTES)
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  #currentNodes(): readonly EligibleNode[] {
    if (!this.#nodesStale) return this.#nodes
    this.#nodesStale = false
    const nodes = eligibleNodes(this.#context.cluster.nodes())
    if (nodesText(this.#nodes) === nodesText(nodes)) return this.#nodes
    this.#nodes = nodes
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
    return nodes
  }

  /** Load balancers changed: documents before and after, or none when the list is complete. */
  #shown(documents: readonly LoadBalancer[]): void {
    const { index, known, departed } = this.#context
    const all = documents.length === 0 ? [...known.all()].map(({ document }) => document) : documents
    for (const document of all)
      for (const [uid, key] of servicesOf(document)) {
        const service = index.get(key)
        if (service?.uid === uid && service.unit !== null) this.#addUnit(service.unit)
        else this.#addLeaving(key)
        if (known.ofUid(uid).length === 0) departed.delete(uid)
      }
    const [before, after] = documents
    if (before !== undefined && after === undefined && known.get(before.id) === null) {
      this.#units.forget(before.id)
      // A free address may help a refused Service.
      this.#tryRefusedAgain()
    }
    if (documents.length > 0) return
    this.#listedNothing = known.size === 0
    for (const unit of index.units()) this.#addUnit(unit)
  }

  #tryRefusedAgain(): void {
    for (const unit of this.#units.refusedUnits) this.#addUnit(unit)
  }

  /** Everything was read, so all Secrets that are named are known: the certificates of others may go. */
  #completeOnce(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    this.#context.certificates?.complete('service')
  }

  /**
   * Runs before anything is done on an empty list: addresses of ours that Services show were lost by the control plane.
   */
  #lookForLosses(): void {
    if (!this.#listedNothing) return
    this.#listedNothing = false
    const { cluster, restoration } = this.#context
    restoration.begin([...cluster.services()].filter((service) => cluster.isClaimed(service)))
  }

  #addUnitOf(key: string): void {
    const unit = this.#context.index.get(key)?.unit
    if (unit != null) this.#addUnit(unit)
  }

  /** Namespaces take turns; Services that share across namespaces have a turn of their own. */
  #addUnit(unit: string): void {
    const [kind = '', rest = ''] = unit.split(':', 2)
    this.#queue.add(`${UNIT}${unit}`, kind === 'alone' ? namespaceOf(rest) : rest)
  }

  #addLeaving(key: string): void {
    this.#queue.add(`${LEAVE}${key}`, namespaceOf(key))
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(NOT_READY_RETRY_MS)
    this.#lookForLosses()
    this.#completeOnce()
    try {
      if (key === NODES) {
        this.#currentNodes()
        return done
      }
      if (key === ROUTES) return await this.#bringRoutes().finally(() => this.#endRoutes())
      if (key.startsWith(LEAVE)) return await release(this.#context, key.slice(LEAVE.length))
      if (!this.#routesLooked) return retryAfter(ROUTES_LOOK_MS)
      return await this.#units.balance(key.slice(UNIT.length), this.#currentNodes())
    } catch (error) {
      if (error instanceof Stale) return retryAfter(SHORTLY_MS)
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  /** The first attempt is over, whatever its result: Services do not wait for routes that fail. */
  #endRoutes(): void {
    if (this.#routesLooked) return
    this.#routesLooked = true
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  async #bringRoutes(): Promise<Outcome> {
    const { cluster, service, settings, known, log } = this.#context
    if (settings.routesOfNetwork === null) return done
    const routes = podRoutes(cluster.nodes(), settings.podWay)
    const { changed, retry } = await bringRoutes(service, settings.routesOfNetwork, routes, log)
    if (changed)
      for (const id of this.#units.leftOut.forgetAll()) {
        const document = known.get(id)?.document
        if (document !== undefined) this.#shown([document, document])
      }
    if (retry === null) return done
    return retryAfter(retry === 'soon' ? ROUTES_IN_USE_RETRY_MS : REFUSED_RETRY_MS)
  }
}

const namespaceOf = (key: string): string => key.split('/', 1)[0] ?? ''

const nodesText = (nodes: readonly EligibleNode[]): string =>
  JSON.stringify(nodes.map(({ name, addresses }) => [name, [...addresses]]))
