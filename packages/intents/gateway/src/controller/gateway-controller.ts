import { setImmediate } from 'node:timers/promises'
import {
  IntentLoop,
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  type LoadBalancerChange,
  queueOwners,
  Restoration,
  uidOf,
} from '@spout/connector'
import { done, type Outcome } from '@spout/runtime'
import { routeIdOf } from '../objects/route.ts'
import { CompiledRoutes } from '../to-model/gateways/compiled-routes.ts'
import { ChangedObjects, type Kind, type ServedKind, type ToldKind } from './changed-objects.ts'
import type { ControllerContext } from './context.ts'
import { GatewayBalancer } from './gateway-balancer.ts'
import { GatewayIndex } from './gateway-index.ts'
import { ListenerSetIndex } from './listener-set-index.ts'
import { type GatewayControllerOptions, surroundingsOf } from './options.ts'
import { PolicyIndex } from './policy-index.ts'
import { releaseGateway } from './release.ts'
import { RouteIndex } from './route-index.ts'
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

/**
 * Keeps a load balancer for each Gateway of our classes, and the statuses of classes, Gateways, ListenerSets and
 * routes.
 */
export class GatewayController {
  readonly name = 'gateway-controller'
  readonly #context: ControllerContext
  readonly #balancer: GatewayBalancer
  /** What is served. */
  readonly #loop: IntentLoop<ServedKind>
  /** What is written to statuses. It has workers of its own: an API server that is slow to write holds no change back. */
  readonly #telling: IntentLoop<ToldKind>
  readonly #objects: ChangedObjects

  constructor(options: GatewayControllerOptions) {
    const { service, settings, clock, log } = options
    const gateways = new GatewayIndex(options)
    this.#context = {
      ...options,
      kind: 'gateway',
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'gateway', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      domains: new KnownDomains({ service, clock, log, onChange: () => this.#objects.addAll() }),
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
      addStatusOf: (key) => this.#telling.add('gateway-status', key),
      addRoutesOf: (key, uids) => {
        for (const id of this.#context.routes.ofGateway(key)) {
          const route = uids === undefined ? undefined : options.cluster.route(id)
          if (route === undefined || uids?.has(uidOf(route)) === true) this.#objects.addRoute(id)
        }
      },
      addUnit: (key) => this.#objects.lookAtGateway(key),
      addLeaving: (key) => this.#loop.add('leave', key),
    }
    this.#balancer = new GatewayBalancer(this.#context)
    this.#objects = new ChangedObjects(
      this.#context,
      (kind, name, namespace) => this.#add(kind, name, namespace),
      (gateway) => this.#balancer.forgetGateway(gateway),
    )
    this.#loop = new IntentLoop<ServedKind>({
      ...{ name: this.name, workers: WORKERS, clock, log },
      ...this.#sources(),
      begin: () => this.#begin(),
      beforeEach: () => this.#context.restoration.beginIfLost(() => this.#claimed()),
      looks: {
        gateway: (key) => this.#balancer.balance(key),
        policy: (key) => this.#lookAtPolicy(key),
        leave: (key) => this.#leave(key),
      },
    })
    this.#telling = new IntentLoop<ToldKind>({
      ...{ name: `${this.name}-statuses`, workers: WORKERS, clock, log },
      ...{ isRead: () => this.#loop.ready, follows: [], begin: () => {} },
      looks: this.#tellings(),
    })
  }

  /** Whether the cluster and the project have been read. Nothing is decided before. */
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
      queued: this.#loop.size + this.#telling.size - paused.length,
      statusWrites: statuses.writes,
    }
  }

  start(): void {
    const { cluster, certificates, known } = this.#context
    for (const one of cluster.classes()) this.#objects.changed({ type: 'class', key: one.metadata.name })
    for (const one of cluster.gateways()) this.#objects.changed({ type: 'gateway', key: keyOf(one) })
    for (const one of cluster.listenerSets()) this.#objects.changed({ type: 'listener-set', key: keyOf(one) })
    for (const one of cluster.routes()) this.#objects.changed({ type: 'route', key: routeIdOf(one) })
    this.#loop.start([
      cluster.onChange((change) => this.#objects.changed(change)),
      certificates.onChange((secret) => this.#objects.secretChanged(secret)),
      known.onChange((change) => this.#shown(change)),
    ])
    this.#telling.start([])
  }

  async stop(): Promise<void> {
    await Promise.all([this.#loop.stop(), this.#telling.stop()])
  }

  #add(kind: Kind, name: string, namespace?: string): void {
    if (kind === 'gateway' || kind === 'leave' || kind === 'policy') this.#loop.add(kind, name, namespace)
    else this.#telling.add(kind, name, namespace)
  }

  /** Our Gateways that send requests to a Service which a policy targets. */
  #gatewaysOfPolicy(key: string): readonly string[] {
    const { policies, routes, gateways } = this.#context
    const found = policies
      .servicesOf(key)
      .flatMap((service) => [...routes.ofService(service)].flatMap((id) => [...routes.of(id).gateways]))
    return [...new Set(found)].filter((gateway) => gateways.isOurs(gateway)).sort()
  }

  #lookAtPolicy(key: string): Outcome {
    this.#context.policies.follow(key, this.#gatewaysOfPolicy(key).length > 0)
    this.#telling.add('policy-status', key)
    return done
  }

  #networksChanged(): void {
    this.#balancer.leftOut.forgetAll()
    this.#objects.addAll()
  }

  #tryRefusedAgain(): void {
    for (const key of this.#balancer.refusedGateways) this.#objects.lookAtGateway(key)
  }

  #shown(change: LoadBalancerChange): void {
    queueOwners(this.#context, change)
    if (change.type === 'gone') {
      this.#balancer.forget(change.document.id)
      this.#tryRefusedAgain()
    }
    if (change.type !== 'listed') return
    this.#context.restoration.listed(this.#context.known)
    this.#objects.addAll()
  }

  async #leave(gateway: string): Promise<Outcome> {
    this.#objects.leaveListenerSets(gateway)
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

  #tellings(): Readonly<Record<ToldKind, (name: string) => Promise<Outcome>>> {
    const { statuses } = this.#context
    const told = (tell: (name: string) => Promise<void>) => async (name: string) => {
      await tell(name)
      return done
    }
    return {
      class: told((name) => statuses.tellClass(name)),
      'gateway-status': (key) => this.#balancer.tell(key),
      'listener-set': told((key) => statuses.tellUnserved(key)),
      route: told(async (id) => {
        // Serving a change is more urgent than reporting it: Gateways that were queued together with the route write
        // their load balancers to the control plane first.
        await setImmediate()
        await statuses.tellRoute(id, this.#context, surroundingsOf(this.#context))
      }),
      'policy-status': told((key) =>
        statuses.tellPolicy(key, this.#gatewaysOfPolicy(key), surroundingsOf(this.#context)),
      ),
    }
  }
}
