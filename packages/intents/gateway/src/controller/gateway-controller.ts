import { setImmediate } from 'node:timers/promises'
import {
  IntentLoop,
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  type LoadBalancerChange,
  noteDeparted,
  queueOwners,
  Restoration,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import { done, type Outcome } from '@spout/runtime'
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
import { StaleGateways } from './stale-gateways.ts'
import { Statuses } from './statuses.ts'

export interface GatewayControllerCounters {
  /** Gateways that are served or waiting to be served. */
  readonly gateways: number
  readonly loadBalancers: number
  /** Routes of all Gateways, other controllers' included. */
  readonly routes: number
  readonly queued: number
  readonly statusWrites: number
}

const WORKERS = 32
type Kind = 'class' | 'gateway' | 'route' | 'leave' | 'policy' | 'listener-set'

/**
 * Keeps a load balancer for each Gateway of our classes, and the statuses of classes, Gateways, ListenerSets and
 * routes.
 */
export class GatewayController {
  readonly name = 'gateway-controller'
  readonly #context: ControllerContext
  readonly #balancer: GatewayBalancer
  readonly #loop: IntentLoop<Kind>
  /** The Services that have changed, as they were last seen. */
  readonly #services = new Map<string, Service>()

  constructor(options: GatewayControllerOptions) {
    const { service, settings, clock, log } = options
    const gateways = new GatewayIndex(options)
    this.#context = {
      ...options,
      kind: 'gateway',
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'gateway', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      domains: new KnownDomains({ service, clock, log, onChange: () => this.#addAll() }),
      restoration: new Restoration(clock),
      gateways,
      index: gateways,
      listenerSets: new ListenerSetIndex(),
      routes: new RouteIndex(options),
      policies: new PolicyIndex(options),
      statuses: new Statuses(options),
      compiled: new CompiledRoutes(),
      stale: new StaleGateways(),
      busy: new Map(),
      withdrawing: new Map(),
      departed: new Set(),
      refusedHosts: new Map(),
      tooMuch: new Map(),
      addRoutesOf: (key) => {
        for (const route of this.#context.routes.ofGateway(key)) this.#addRoute(route)
      },
      addUnit: (key) => this.#lookAtGateway(key),
      addLeaving: (key) => this.#loop.add('leave', key),
    }
    this.#balancer = new GatewayBalancer(this.#context)
    this.#loop = new IntentLoop<Kind>({
      ...{ name: this.name, workers: WORKERS, clock, log },
      ...this.#sources(),
      begin: () => this.#begin(),
      beforeEach: () => this.#context.restoration.beginIfLost(() => this.#claimed()),
      looks: this.#looks(),
    })
  }

  /** Whether both sides were read; nothing is decided before. */
  get ready(): boolean {
    return this.#loop.ready
  }

  /** The load balancers of the project. */
  get known(): KnownLoadBalancers {
    return this.#context.known
  }

  get counters(): GatewayControllerCounters {
    const { gateways, routes, known, statuses } = this.#context
    const paused = this.#balancer.refusedGateways.filter((key) => this.#loop.isPaused('gateway', key))
    return {
      gateways: gateways.count,
      loadBalancers: known.size,
      routes: routes.size,
      queued: this.#loop.size - paused.length,
      statusWrites: statuses.writes,
    }
  }

  start(): void {
    const { cluster, certificates, known } = this.#context
    for (const one of cluster.classes()) this.#changed({ type: 'class', key: one.metadata.name })
    for (const one of cluster.gateways()) this.#changed({ type: 'gateway', key: keyOf(one) })
    for (const one of cluster.listenerSets()) this.#changed({ type: 'listener-set', key: keyOf(one) })
    for (const one of cluster.routes()) this.#changed({ type: 'route', key: routeIdOf(one) })
    this.#loop.start([
      cluster.onChange((change) => this.#changed(change)),
      certificates.onChange((secret) => this.#secretChanged(secret)),
      known.onChange((change) => this.#shown(change)),
    ])
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  #secretChanged(secret: string): void {
    const { gateways, policies } = this.#context
    for (const gateway of gateways.ofSecret(secret)) this.#addGateway(gateway)
    for (const policy of policies.ofAuthorities(secret)) this.#policyChanged(policy)
  }

  #changed(change: ClusterChange): void {
    const { cluster, gateways, routes } = this.#context
    switch (change.type) {
      case 'class':
        this.#loop.add('class', change.key)
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
        this.#serviceChanged(change.key)
        break
      default:
        for (const route of routes.ids()) this.#addRoute(route)
        gateways.nameSecretsAgain()
        this.#addAll()
    }
  }

  #gatewayChanged(key: string): void {
    const { cluster, gateways, routes, known } = this.#context
    const { before, ownership, isChanged } = gateways.put(key, cluster.gateway(key))
    noteDeparted(this.#context, before, gateways.get(key)?.uid)
    if (ownership === 'ours') this.#loop.add('gateway', key)
    else this.#balancer.forgetGateway(key)
    if (ownership === 'deleting' || ownership === 'released' || known.ofKey(key).length > 0)
      this.#loop.add('leave', key)
    // A write to the Gateway's status, for example, changes nothing for its routes.
    if (isChanged) {
      this.#context.stale.whole(key)
      for (const route of routes.ofGateway(key)) this.#addRoute(route)
    }
    const wasOurs = before?.ownership === 'ours' || before?.ownership === 'deleting'
    if (wasOurs && gateways.get(key) === null) this.#leaveListenerSets(key)
  }

  #listenerSetChanged(key: string): void {
    const { cluster, gateways, listenerSets, routes } = this.#context
    const { before, after, isSame } = listenerSets.put(key, cluster.listenerSet(key))
    const named = [...new Set([before, after])].filter((one) => one !== null)
    // A status changes nothing for the Gateway.
    for (const gateway of named) isSame ? this.#lookAtGateway(gateway) : this.#addGateway(gateway)
    if (isSame) return
    for (const gateway of named) gateways.listenerSetsChanged(gateway)
    for (const route of routes.ofListenerSet(key)) this.#routeChanged(route)
    // Listeners of other ListenerSets that conflicted with this one may now be accepted.
    for (const gateway of named) for (const route of routes.ofGateway(gateway)) this.#addRoute(route)
    if (before !== null && before !== after && gateways.isOurs(before)) this.#loop.add('listener-set', key)
  }

  /** A Gateway is gone, so its ListenerSets are served by nobody. */
  #leaveListenerSets(gateway: string): void {
    for (const set of this.#context.cluster.listenerSetsOf(gateway)) this.#loop.add('listener-set', keyOf(set))
  }

  #routeChanged(id: string): void {
    const { cluster, routes } = this.#context
    const { before, after, affected, isChanged } = routes.put(id, cluster.route(id))
    this.#addRoute(id)
    // A write to the route's status, for example, changes nothing else.
    if (!isChanged) return
    for (const other of affected) this.#addRoute(other)
    for (const service of before.services) this.#addPoliciesOf(service)
    for (const gateway of new Set([...before.gateways, ...after.gateways])) {
      this.#addGatewayFor(gateway, [id])
      this.#addRivals(gateway, id)
      if (before.expressions !== after.expressions) this.#addYounger(gateway, id)
    }
  }

  /** Queues the younger routes with expressions: the limit on expressions may now admit them, or refuse them. */
  #addYounger(gateway: string, id: string): void {
    const { cluster, routes } = this.#context
    const changed = cluster.route(id)
    for (const other of routes.withExpressions(gateway)) {
      const one = cluster.route(other)
      if (changed === undefined || (one !== undefined && byAge(one, changed) > 0)) this.#addRoute(other)
    }
  }

  /** Queues the routes that compete with this one for a host name. */
  #addRivals(gateway: string, id: string): void {
    const { routes } = this.#context
    const rival = rivalOf(id)
    const others = rival !== null && routes.hasKind(gateway, rival) ? routes.ofGateway(gateway) : []
    for (const route of others) this.#addRoute(route)
  }

  #addWithGateways(route: string): void {
    this.#addRoute(route)
    for (const gateway of this.#context.routes.of(route).gateways) this.#addGatewayFor(gateway, [route])
  }

  /** A Service or its endpoints have changed. The statuses of routes do not depend on endpoints. */
  #serviceChanged(key: string): void {
    const { cluster, routes } = this.#context
    const own = [...routes.ofService(key)]
    const service = cluster.service(key)
    // One that was there before its routes, and has not changed since, is not known.
    const isAnother = !this.#services.has(key) || this.#services.get(key) !== service
    if (service === undefined || own.length === 0) this.#services.delete(key)
    else this.#services.set(key, service)
    for (const route of own) {
      if (isAnother) this.#addWithGateways(route)
      else for (const gateway of routes.of(route).gateways) this.#addGatewayFor(gateway, [])
    }
  }

  #policyChanged(key: string): void {
    const { cluster, policies, routes } = this.#context
    this.#loop.add('policy', key)
    for (const service of policies.put(key, cluster.policy(key))) {
      // If two policies target one Service, the older one counts.
      this.#addPoliciesOf(service)
      for (const route of routes.ofService(service)) this.#addWithGateways(route)
    }
  }

  #addPoliciesOf(service: string): void {
    for (const policy of this.#context.cluster.policiesOf(service)) this.#loop.add('policy', keyOf(policy))
  }

  /** Our Gateways that send requests to a Service which a policy targets. */
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

  /** Queues a route, and the policies of the Services that it names. */
  #addRoute(id: string): void {
    for (const service of this.#context.routes.of(id).services) this.#addPoliciesOf(service)
    this.#loop.add('route', id, id.split('/', 2)[1] ?? '')
  }

  #addGateway(key: string): void {
    this.#context.stale.whole(key)
    this.#lookAtGateway(key)
  }

  /** Queues a Gateway of which only these routes have changed; if there are none, only endpoints. */
  #addGatewayFor(key: string, routes: readonly string[]): void {
    this.#context.stale.routes(key, routes)
    this.#lookAtGateway(key)
  }

  /** Queues a Gateway, if it is ours. */
  #lookAtGateway(key: string): void {
    if (this.#context.gateways.isOurs(key)) this.#loop.add('gateway', key)
  }

  #networksChanged(): void {
    this.#balancer.leftOut.forgetAll()
    this.#addAll()
  }

  #addAll(): void {
    for (const key of this.#context.gateways.keys()) this.#addGateway(key)
  }

  #tryRefusedAgain(): void {
    for (const key of this.#balancer.refusedGateways) this.#lookAtGateway(key)
  }

  #shown(change: LoadBalancerChange): void {
    queueOwners(this.#context, change)
    if (change.type === 'gone') {
      this.#balancer.forget(change.document.id)
      this.#tryRefusedAgain()
    }
    if (change.type !== 'listed') return
    this.#context.restoration.listed(this.#context.known)
    this.#addAll()
  }

  async #leave(gateway: string): Promise<Outcome> {
    this.#leaveListenerSets(gateway)
    return await releaseGateway(this.#context, gateway)
  }

  /** What must be read before the loop starts. */
  #sources() {
    const { cluster, known, pools, networks, domains } = this.#context
    return { isRead: () => cluster.ready, follows: [known, pools, networks, domains] }
  }

  /** The Gateways whose statuses may show our addresses. */
  #claimed() {
    const { cluster } = this.#context
    return [...cluster.gateways()].filter((one) => cluster.isClaimed(one)).map(withAddresses)
  }

  #begin(): void {
    const { gateways, policies } = this.#context
    for (const policy of policies.keys()) policies.follow(policy, this.#gatewaysOfPolicy(policy).length > 0)
    gateways.complete()
  }

  #looks(): Readonly<Record<Kind, (name: string) => Promise<Outcome>>> {
    const { statuses } = this.#context
    const told = (tell: (name: string) => Promise<void>) => async (name: string) => {
      await tell(name)
      return done
    }
    return {
      class: told((name) => statuses.tellClass(name)),
      gateway: (key) => this.#balancer.balance(key),
      'listener-set': told((key) => statuses.tellUnserved(key)),
      route: told(async (id) => {
        // What serves a change goes first: Gateways that were queued with it are said to the control plane meanwhile.
        await setImmediate()
        await statuses.tellRoute(id, this.#context, surroundingsOf(this.#context))
      }),
      policy: told((key) => this.#lookAtPolicy(key)),
      leave: (key) => this.#leave(key),
    }
  }
}
