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
  /** How many Services are refused. */
  readonly refused: number
  /** Keys that wait in the queue, without those of refused Services, which are only retried periodically. */
  readonly queued: number
  readonly statusWrites: number
}

/**
 * How many keys are processed concurrently. A worker mostly waits: twice for the API server and once for the control
 * plane's store. It equals the number of load balancers that the control plane creates in one call.
 */
const WORKERS = 256
/** With more queued keys than this, a status is written only after the nodes have answered: addresses come first. */
const MASS = 64
/** How long a creation waits for others to share its call, per queued key. A shared call costs less than many. */
const PATIENCE_PER_KEY_MS = 0.2
const MOST_PATIENCE_MS = 500
const ROUTES_IN_USE_RETRY_MS = 1000
/** How often a Service checks whether setting the routes to pods has been tried once. Before that it must wait. */
const ROUTES_LOOK_MS = 1000

/**
 * Keeps the load balancers that the Services of a cluster request, and writes their state to the Services' statuses.
 *
 * The queue has these kinds of keys. A `unit` is the Services that are decided together. A `leave` is a Service that is
 * gone or no longer ours. `routes` stands for the routes to pods, `nodes` for the nodes as members.
 */
export class ServiceController {
  readonly name = 'service-controller'
  readonly #context: ControllerContext
  readonly #loop: IntentLoop<'unit' | 'leave' | 'routes' | 'nodes'>
  readonly #units: UnitBalancer
  #nodes: readonly EligibleNode[] = []
  #nodesStale = true
  /**
   * Whether setting the routes to pods was tried once. Before that, the control plane would refuse members behind a
   * missing route.
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
      // By now all named Secrets are known, so the certificates of other Secrets may be deleted.
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

  /** The load balancers that this project has for the Services of this cluster. */
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
    // A Service that was never ours has no load balancer to delete.
    if (leaves || known.ofKey(key).length > 0) addLeaving(key)
  }

  /** Registers the Secret that a Service of ours names, so that it is read. */
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

  /** Only marks our list of nodes as outdated. At the start a thousand nodes may arrive one by one. */
  #nodesChanged(): void {
    this.#nodesStale = true
    this.#loop.add('nodes', '')
    if (this.#context.settings.routesOfNetwork !== null) this.#loop.add('routes', '')
  }

  /** Members, families and routers that lacked a subnet may have one now, so everything is looked at again. */
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
      // The address that is free now may be what a refused Service waits for.
      this.#tryRefusedAgain()
    }
  }

  #tryRefusedAgain(): void {
    for (const unit of this.#units.refusedUnits) this.#addUnit(unit)
  }

  /** The Services with our finalizer and mark. Only their statuses may show our addresses. */
  #claimed(): readonly Service[] {
    const { cluster } = this.#context
    return [...cluster.services()].filter((service) => cluster.isClaimed(service))
  }

  #addUnitOf(key: string): void {
    const unit = this.#context.index.get(key)?.unit
    if (unit != null) this.#addUnit(unit)
  }

  /** Queues a unit in the turn of its namespace. Units that span namespaces take the turn of that set of namespaces. */
  #addUnit(unit: string): void {
    const [kind = '', rest = ''] = unit.split(':', 2)
    this.#loop.add('unit', unit, kind === 'alone' ? namespaceOf(rest) : rest)
  }

  async #balance(unit: string): Promise<Outcome> {
    if (!this.#routesLooked) return retryAfter(ROUTES_LOOK_MS)
    return this.#units.balance(unit, this.#currentNodes())
  }

  /** Called after each attempt. The first one releases the Services, even if it failed: they must not wait for ever. */
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
