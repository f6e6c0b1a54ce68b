import {
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  ownersOf,
  Restoration,
  SHORTLY_MS,
  Stale,
} from '@spout/connector'
import type { LoadBalancer } from '@spout/model'
import { done, failed, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { byAge, routeIdOf } from '../objects/route.ts'
import { CompiledRoutes } from '../to-model/compiled-routes.ts'
import type { ClusterChange } from './cluster.ts'
import type { ControllerContext } from './context.ts'
import { GatewayBalancer } from './gateway-balancer.ts'
import { GatewayIndex } from './gateway-index.ts'
import { ListenerSetIndex } from './listener-set-index.ts'
import { type GatewayControllerOptions, surroundingsOf } from './options.ts'
import { PolicyIndex } from './policy-index.ts'
import { releaseGateway } from './release.ts'
import { RouteIndex, rivalOf } from './route-index.ts'
import { withAddresses } from './shown-addresses.ts'
import { Statuses } from './statuses.ts'

export interface GatewayControllerCounters {
  /** Gateways that are served, or are to be. */
  readonly gateways: number
  readonly loadBalancers: number
  /** Routes of any Gateway. */
  readonly routes: number
  readonly queued: number
  readonly statusWrites: number
}

const WORKERS = 32
const NOT_READY_RETRY_MS = 200

const CLASS = 'class:'
const GATEWAY = 'gateway:'
const ROUTE = 'route:'
const LEAVE = 'leave:'
const POLICY = 'policy:'
const LISTENER_SET = 'listener-set:'

/**
 * Keeps a load balancer for each Gateway of our classes, and the statuses of classes, Gateways, ListenerSets and routes.
 *
 * The queue holds keys, not events: a worker reads both sides and writes the difference, so it may run at any time.
 */
export class GatewayController {
  readonly name = 'gateway-controller'
  readonly #context: ControllerContext
  readonly #balancer: GatewayBalancer
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #stop = new AbortController()
  #following: Promise<unknown> | null = null
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: GatewayControllerOptions) {
    const { service, settings, clock, log } = options
    this.#context = {
      ...options,
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'gateway', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      domains: new KnownDomains({ service, clock, log, onChange: () => this.#addAll() }),
      restoration: new Restoration(clock),
      gateways: new GatewayIndex(options),
      listenerSets: new ListenerSetIndex(),
      routes: new RouteIndex(options),
      policies: new PolicyIndex(options),
      statuses: new Statuses(options),
      compiled: new CompiledRoutes(),
      busy: new Map(),
      withdrawing: new Map(),
      departed: new Set(),
      refusedHosts: new Map(),
      addRoutesOf: (key) => {
        for (const route of this.#context.routes.ofGateway(key)) this.#addRoute(route)
      },
      addGateway: (key) => this.#addGateway(key),
      addLeaving: (key) => this.#add(LEAVE, key),
    }
    this.#balancer = new GatewayBalancer(this.#context)
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log,
      workers: WORKERS,
      reconcile: (key) => this.#look(key),
    })
  }

  /** Whether both sides were read; nothing is decided before. */
  get ready(): boolean {
    const { cluster, known, networks, domains } = this.#context
    return cluster.ready && [known, networks, domains].every(({ listed }) => listed)
  }

  /** The load balancers of the project. */
  get known(): KnownLoadBalancers {
    return this.#context.known
  }

  get counters(): GatewayControllerCounters {
    const { gateways, routes, known, statuses } = this.#context
    const paused = this.#balancer.refusedGateways.filter((key) => this.#queue.isPaused(`${GATEWAY}${key}`))
    return {
      gateways: gateways.count,
      loadBalancers: known.size,
      routes: [...routes.ids()].length,
      queued: this.#queue.size - paused.length,
      statusWrites: statuses.writes,
    }
  }

  start(): void {
    const { cluster, certificates, gateways, known, pools, networks, domains } = this.#context
    this.#unsubscribe = [
      cluster.onChange((change) => this.#changed(change)),
      certificates.onChange((secret) => {
        for (const gateway of gateways.ofSecret(secret)) this.#addGateway(gateway)
        for (const policy of this.#context.policies.ofAuthorities(secret)) this.#policyChanged(policy)
      }),
      known.onChange((documents) => this.#shown(documents)),
    ]
    for (const one of cluster.classes()) this.#changed({ type: 'class', key: one.metadata.name })
    for (const one of cluster.gateways()) this.#changed({ type: 'gateway', key: keyOf(one) })
    for (const one of cluster.listenerSets()) this.#changed({ type: 'listener-set', key: keyOf(one) })
    for (const one of cluster.routes()) this.#changed({ type: 'route', key: routeIdOf(one) })
    this.#following = Promise.all([known, pools, networks, domains].map((one) => one.follow(this.#stop.signal)))
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
    await this.#following
  }

  #changed(change: ClusterChange): void {
    const { cluster, gateways, routes } = this.#context
    switch (change.type) {
      case 'class':
        this.#add(CLASS, change.key)
        for (const gateway of cluster.gateways())
          if (gateway.spec.gatewayClassName === change.key) this.#gatewayChanged(keyOf(gateway))
        break
      case 'gateway':
        this.#gatewayChanged(change.key)
        break
      case 'listener-set':
        this.#listenerSetChanged(change.key)
        break
      case 'route':
        this.#routeChanged(change.key)
        break
      case 'policy':
        this.#policyChanged(change.key)
        break
      case 'service':
        for (const route of routes.ofService(change.key)) this.#addWithGateways(route)
        break
      default:
        for (const route of routes.ids()) this.#addWithGateways(route)
        for (const gateway of gateways.nameSecretsAgain()) this.#addGateway(gateway)
    }
  }

  #gatewayChanged(key: string): void {
    const { cluster, gateways, routes, known, departed } = this.#context
    const { before, ownership, isChanged } = gateways.put(key, cluster.gateway(key))
    if (before !== null && before.uid !== gateways.get(key)?.uid && known.ofUid(before.uid).length > 0)
      departed.add(before.uid)
    if (ownership === 'ours') this.#add(GATEWAY, key)
    if (ownership === 'deleting' || ownership === 'released' || known.ofKey(key).length > 0) this.#add(LEAVE, key)
    // A status of ours, for example, says nothing to its routes.
    if (isChanged) for (const route of routes.ofGateway(key)) this.#addRoute(route)
    const wasOurs = before?.ownership === 'ours' || before?.ownership === 'deleting'
    if (wasOurs && gateways.get(key) === null) this.#leaveListenerSets(key)
  }

  #listenerSetChanged(key: string): void {
    const { cluster, gateways, listenerSets, routes } = this.#context
    const { before, after, isSame } = listenerSets.put(key, cluster.listenerSet(key))
    const named = [...new Set([before, after])].filter((one) => one !== null)
    for (const gateway of named) this.#addGateway(gateway)
    // Statuses change nothing else.
    if (isSame) return
    for (const gateway of named) gateways.listenerSetsChanged(gateway)
    for (const route of routes.ofListenerSet(key)) this.#routeChanged(route)
    // Listeners of other sets may become free.
    for (const gateway of named) for (const route of routes.ofGateway(gateway)) this.#addRoute(route)
    if (before !== null && before !== after && gateways.isOurs(before)) this.#add(LISTENER_SET, key)
  }

  /** A Gateway is gone: nobody serves its ListenerSets. */
  #leaveListenerSets(gateway: string): void {
    for (const set of this.#context.cluster.listenerSetsOf(gateway)) this.#add(LISTENER_SET, keyOf(set))
  }

  #routeChanged(id: string): void {
    const { cluster, routes } = this.#context
    const { before, after, isChanged } = routes.put(id, cluster.route(id))
    this.#addRoute(id)
    // A status of ours, for example, says nothing to others.
    if (!isChanged) return
    for (const service of before.services) this.#addPoliciesOf(service)
    for (const gateway of new Set([...before.gateways, ...after.gateways])) {
      this.#addGateway(gateway)
      this.#addRivals(gateway, id)
      if (before.expressions !== after.expressions) this.#addYounger(gateway, id)
    }
  }

  /** Younger routes whose expressions may fit beside those of the route, or no more. */
  #addYounger(gateway: string, id: string): void {
    const { cluster, routes } = this.#context
    const changed = cluster.route(id)
    for (const other of routes.withExpressions(gateway)) {
      const one = cluster.route(other)
      if (changed === undefined || (one !== undefined && byAge(one, changed) > 0)) this.#addRoute(other)
    }
  }

  /** Others that may get, or lose, a listener or a name that the route has, or had. */
  #addRivals(gateway: string, id: string): void {
    const { routes } = this.#context
    const rival = rivalOf(id)
    const others = rival !== null && routes.hasKind(gateway, rival) ? routes.ofGateway(gateway) : []
    for (const route of [...others, ...routes.rivalsAt(gateway, id)]) this.#addRoute(route)
  }

  #addWithGateways(route: string): void {
    this.#addRoute(route)
    for (const gateway of this.#context.routes.of(route).gateways) this.#addGateway(gateway)
  }

  #policyChanged(key: string): void {
    const { cluster, policies, routes } = this.#context
    this.#add(POLICY, key)
    for (const service of policies.put(key, cluster.policy(key))) {
      // Of two policies for one Service the older counts.
      this.#addPoliciesOf(service)
      for (const route of routes.ofService(service)) this.#addWithGateways(route)
    }
  }

  #addPoliciesOf(service: string): void {
    for (const policy of this.#context.cluster.policiesOf(service)) this.#add(POLICY, keyOf(policy))
  }

  /** Our Gateways that a policy is for. */
  #gatewaysOfPolicy(key: string): readonly string[] {
    const { policies, routes, gateways } = this.#context
    const found = policies
      .servicesOf(key)
      .flatMap((service) => [...routes.ofService(service)].flatMap((id) => [...routes.of(id).gateways]))
    return [...new Set(found)].filter((gateway) => gateways.isOurs(gateway)).sort()
  }

  async #lookAtPolicy(key: string): Promise<void> {
    const gateways = this.#gatewaysOfPolicy(key)
    this.#context.policies.follow(key, gateways.length > 0)
    await this.#context.statuses.tellPolicy(key, gateways, surroundingsOf(this.#context))
  }

  /** What it names is decided about by policies, too. */
  #addRoute(id: string): void {
    for (const service of this.#context.routes.of(id).services) this.#addPoliciesOf(service)
    this.#queue.add(`${ROUTE}${id}`, id.split('/', 2)[1] ?? '')
  }

  #addGateway(key: string): void {
    if (this.#context.gateways.isOurs(key)) this.#add(GATEWAY, key)
  }

  /** Namespaces take turns. */
  #add(kind: string, key: string): void {
    this.#queue.add(`${kind}${key}`, key.split('/', 1)[0] ?? '')
  }

  #networksChanged(): void {
    this.#balancer.leftOut.forgetAll()
    this.#addAll()
  }

  #addAll(): void {
    for (const key of this.#context.gateways.keys()) this.#addGateway(key)
  }

  #tryRefusedAgain(): void {
    for (const key of this.#balancer.refusedGateways) this.#addGateway(key)
  }

  /** Load balancers changed: documents before and after, or none when the list is complete. */
  #shown(documents: readonly LoadBalancer[]): void {
    const { cluster, known, gateways, departed, restoration } = this.#context
    const all = documents.length === 0 ? [...known.all()].map(({ document }) => document) : documents
    for (const document of all)
      for (const [uid, key] of ownersOf(document, 'gateway')) {
        if (gateways.get(key)?.uid === uid && gateways.isOurs(key)) this.#add(GATEWAY, key)
        else this.#add(LEAVE, key)
        if (known.ofUid(uid).length === 0) departed.delete(uid)
      }
    const [before, after] = documents
    if (before !== undefined && after === undefined) {
      this.#balancer.forget(before.id)
      this.#tryRefusedAgain()
    }
    if (documents.length > 0) return
    // The addresses that our Gateways show, in case the control plane lost its state.
    const claimed = () => [...cluster.gateways()].filter((one) => cluster.isClaimed(one))
    if (known.size === 0) restoration.begin(claimed().map(withAddresses))
    for (const key of gateways.keys()) this.#addGateway(key)
  }

  async #leave(gateway: string): Promise<Outcome> {
    this.#leaveListenerSets(gateway)
    return await releaseGateway(this.#context, gateway)
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(NOT_READY_RETRY_MS)
    const { gateways, policies, statuses } = this.#context
    for (const policy of gateways.isComplete ? [] : policies.keys())
      policies.follow(policy, this.#gatewaysOfPolicy(policy).length > 0)
    gateways.complete()
    const at = key.indexOf(':') + 1
    const [kind, name] = [key.slice(0, at), key.slice(at)]
    try {
      if (kind === GATEWAY) return await this.#balancer.balance(name)
      if (kind === LEAVE) return await this.#leave(name)
      if (kind === POLICY) await this.#lookAtPolicy(name)
      else if (kind === LISTENER_SET) await statuses.tellUnserved(name)
      else if (kind === CLASS) await statuses.tellClass(name)
      else await statuses.tellRoute(name, this.#context, surroundingsOf(this.#context))
      return done
    } catch (error) {
      if (error instanceof Stale) return retryAfter(SHORTLY_MS)
      return failed(error instanceof Error ? error.message : String(error))
    }
  }
}
