import {
  bringRoutes,
  Dependents,
  type EligibleNode,
  eligibleNodes,
  IntentLoop,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  type LoadBalancerChange,
  noteDeparted,
  podRoutes,
  queueOwners,
  REFUSED_RETRY_MS,
  Restoration,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { ownershipOf } from '../to-model/ownership.ts'
import { secretOf } from '../to-model/tls.ts'
import type { ClusterChange } from './cluster.ts'
import type { ControllerContext, ServiceControllerOptions } from './context.ts'
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
const ROUTES_IN_USE_RETRY_MS = 1000
/**
 * Services wait until the routes to pods were set once, and are then queued again. This is the pause before they look
 * again.
 */
const ROUTES_LOOK_MS = 1000

/**
 * Keeps the load balancers that the Services of a cluster request, and writes their state to the Services' statuses.
 *
 * The loop has these kinds of keys. A `unit` is the Services that share one address. A `leave` is a Service that is
 * gone, or no longer ours. `routes` are the routes to pods, `nodes` the members for node ports.
 */
export class ServiceController {
  readonly name = 'service-controller'
  readonly #context: ControllerContext
  readonly #loop: IntentLoop<'unit' | 'leave' | 'routes' | 'nodes'>
  readonly #units: UnitBalancer
  #nodes: readonly EligibleNode[] = []
  #nodesStale = true
  /**
   * Whether the routes to pods were set once, or setting them failed. Before that, members behind a missing route would
   * be refused.
   */
  #routesLooked: boolean

  constructor(options: ServiceControllerOptions) {
    const { cluster, service, settings, clock, log, workers = WORKERS } = options
    this.#context = {
      ...options,
      kind: 'service',
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'service', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      restoration: new Restoration(clock),
      index: new ServiceIndex(),
      statuses: new StatusWriter(
        cluster,
        clock,
        (key) => this.#addUnitOf(key),
        () => this.#loop.waiting > MASS,
      ),
      busy: new Map(),
      withdrawing: new Map(),
      working: new Set(),
      secrets: new Dependents(),
      departed: new Set(),
      patienceMs: () => {
        const { waiting } = this.#loop
        return waiting > MASS ? Math.min(MOST_PATIENCE_MS, waiting * PATIENCE_PER_KEY_MS) : 0
      },
      addUnit: (unit) => this.#addUnit(unit),
      addLeaving: (key) => this.#loop.add('leave', key),
    }
    this.#routesLooked = settings.routesOfNetwork === null
    this.#units = new UnitBalancer(this.#context)
    const { known, pools, networks } = this.#context
    this.#loop = new IntentLoop({
      ...{ name: this.name, workers, clock, log },
      isRead: () => cluster.ready,
      follows: [known, pools, networks],
      // Called when all named Secrets are known: certificates of others may be deleted.
      begin: () => options.certificates?.complete('service'),
      beforeEach: () => this.#context.restoration.beginIfLost(() => this.#claimed()),
      looks: {
        unit: (unit) => this.#balance(unit),
        leave: (key) => release(this.#context, key),
        routes: () => this.#bringRoutes().finally(() => this.#endRoutes()),
        nodes: () => {
          this.#currentNodes()
          return done
        },
      },
    })
  }

  get counters(): ServiceControllerCounters {
    const { index, known, statuses } = this.#context
    return {
      services: index.count('ours'),
      loadBalancers: known.size,
      refused: this.#units.refusedServices,
      queued: this.#loop.size - this.#units.refusedUnits.filter((unit) => this.#loop.isPaused('unit', unit)).length,
      statusWrites: statuses.writes,
    }
  }

  /** The load balancers of this cluster in the project. */
  get known(): KnownLoadBalancers {
    return this.#context.known
  }

  get ready(): boolean {
    return this.#loop.ready
  }

  start(): void {
    const { cluster, known, certificates } = this.#context
    for (const service of cluster.services()) this.#changed({ type: 'service', key: keyOf(service) })
    this.#changed({ type: 'nodes' })
    this.#loop.start([
      cluster.onChange((change) => this.#changed(change)),
      known.onChange((change) => this.#shown(change)),
      ...(certificates === undefined ? [] : [certificates.onChange((key) => this.#secretChanged(key))]),
    ])
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    this.#context.statuses.close()
  }

  #changed(change: ClusterChange): void {
    if (change.type === 'nodes') this.#nodesChanged()
    else if (change.type === 'service') this.#serviceChanged(change.key)
    else this.#addUnitOf(change.key)
  }

  #serviceChanged(key: string): void {
    const { cluster, settings, index, known, statuses, addLeaving } = this.#context
    const service = cluster.service(key)
    const ownership = service === undefined ? 'foreign' : ownershipOf(service, settings)
    const { before, after } = index.put(key, service, ownership)
    this.#nameSecret(key, service, ownership === 'ours')
    if (service !== undefined) statuses.seen(service)
    if (before !== null && before.uid !== after?.uid) statuses.forget(before.uid)
    noteDeparted(this.#context, before, after?.uid)
    if (before?.unit != null && after !== null && after.unit === null) statuses.forget(after.uid)
    for (const unit of new Set([before?.unit, after?.unit])) if (unit != null) this.#addUnit(unit)
    const leaves = ownership === 'deleting' || ownership === 'released'
    // A Service that was never ours leaves nothing behind.
    if (leaves || known.ofKey(key).length > 0) addLeaving(key)
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
    this.#loop.add('nodes', '')
    if (this.#context.settings.routesOfNetwork !== null) this.#loop.add('routes', '')
  }

  /** Members, families and routers that had no subnet may have one now. */
  #networksChanged(): void {
    this.#units.leftOut.forgetAll()
    if (this.#context.settings.routesOfNetwork !== null) this.#loop.add('routes', '')
    this.#addAll()
  }

  #currentNodes(): readonly EligibleNode[] {
    if (!this.#nodesStale) return this.#nodes
    this.#nodesStale = false
    const nodes = eligibleNodes(this.#context.cluster.nodes())
    if (nodesText(this.#nodes) === nodesText(nodes)) return this.#nodes
    this.#nodes = nodes
    this.#addAll()
    return nodes
  }

  #addAll(): void {
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  #shown(change: LoadBalancerChange): void {
    queueOwners(this.#context, change)
    if (change.type === 'listed') {
      this.#context.restoration.listed(this.#context.known)
      this.#addAll()
    } else if (change.type === 'gone') {
      this.#units.forget(change.document.id)
      // A free address may help a refused Service.
      this.#tryRefusedAgain()
    }
  }

  #tryRefusedAgain(): void {
    for (const unit of this.#units.refusedUnits) this.#addUnit(unit)
  }

  /** The Services whose statuses may show our addresses. */
  #claimed(): readonly Service[] {
    const { cluster } = this.#context
    return [...cluster.services()].filter((service) => cluster.isClaimed(service))
  }

  #addUnitOf(key: string): void {
    const unit = this.#context.index.get(key)?.unit
    if (unit != null) this.#addUnit(unit)
  }

  /** Namespaces take turns; Services that share across namespaces have a turn of their own. */
  #addUnit(unit: string): void {
    const [kind = '', rest = ''] = unit.split(':', 2)
    this.#loop.add('unit', unit, kind === 'alone' ? namespaceOf(rest) : rest)
  }

  async #balance(unit: string): Promise<Outcome> {
    if (!this.#routesLooked) return retryAfter(ROUTES_LOOK_MS)
    return this.#units.balance(unit, this.#currentNodes())
  }

  /** The first attempt is over, whatever its result: Services do not wait for routes that fail. */
  #endRoutes(): void {
    if (this.#routesLooked) return
    this.#routesLooked = true
    this.#addAll()
  }

  async #bringRoutes(): Promise<Outcome> {
    const { cluster, service, settings, known, log } = this.#context
    if (settings.routesOfNetwork === null) return done
    const routes = podRoutes(cluster.nodes(), settings.podWay)
    const { changed, retry } = await bringRoutes(service, settings.routesOfNetwork, routes, log)
    if (changed)
      for (const id of this.#units.leftOut.forgetAll()) {
        const document = known.get(id)?.document
        if (document !== undefined) this.#shown({ type: 'shown', document, before: document })
      }
    if (retry === null) return done
    return retryAfter(retry === 'soon' ? ROUTES_IN_USE_RETRY_MS : REFUSED_RETRY_MS)
  }
}

const namespaceOf = (key: string): string => key.split('/', 1)[0] ?? ''

const nodesText = (nodes: readonly EligibleNode[]): string =>
  JSON.stringify(nodes.map(({ name, addresses }) => [name, [...addresses]]))
