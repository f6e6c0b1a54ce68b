import { isDeepStrictEqual } from 'node:util'
import {
  backendPool,
  Confirmations,
  type Family,
  isWithdrawn,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  LeftOut,
  type LoadBalancerService,
  ownersOf,
  Restoration,
  SHORTLY_MS,
  Stale,
  type TlsCertificates,
  takeDown,
  uidOf,
  WITHDRAWAL_WAIT_MS,
} from '@spout/connector'
import type { LoadBalancer } from '@spout/model'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import type { Gateway } from '../objects/gateway.ts'
import { secretsOf } from '../to-model/certificates.ts'
import { type CompiledGateway, compileGateway, type GatewaySurroundings } from '../to-model/compile-gateway.ts'
import { routeOutcomes } from '../to-model/route-outcome.ts'
import { classStatus } from '../write-back/class-status.ts'
import { gatewayStatus } from '../write-back/gateway-status.ts'
import { routeParents } from '../write-back/route-status.ts'
import type { Cluster, ClusterChange } from './cluster.ts'
import { bringGateway } from './gateway-balancer.ts'
import { isOurClass, type Ownership, ownershipOf } from './ownership.ts'
import { RouteIndex } from './route-index.ts'

export interface GatewayControllerSettings {
  /** Id of this cluster: tells its load balancers from those of other clusters in the project. Never changes. */
  readonly cluster: string
  /** Names of address pools, in order; empty allows any. */
  readonly defaultPools: readonly string[]
}

export interface GatewayControllerOptions {
  readonly cluster: Cluster
  readonly service: LoadBalancerService
  /** Keeps the certificates of the Secrets that listeners name. Started and stopped by who made it. */
  readonly certificates: Pick<TlsCertificates, 'of' | 'name' | 'complete' | 'onChange'>
  readonly settings: GatewayControllerSettings
  readonly clock: Clock
  readonly log: Logger
}

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
const REFUSED_RETRY_MS = 30_000
const HELD_RETRY_MS = 5000

const CLASS = 'class:'
const GATEWAY = 'gateway:'
const ROUTE = 'route:'
const LEAVE = 'leave:'

/**
 * Keeps a load balancer for each Gateway of our classes, and the statuses of classes, Gateways and routes.
 *
 * The queue holds keys, not events: a worker reads both sides and writes the difference, so it may run at any time.
 */
export class GatewayController {
  readonly name = 'gateway-controller'
  readonly #options: GatewayControllerOptions
  readonly #known: KnownLoadBalancers
  readonly #pools: KnownPools
  readonly #networks: KnownNetworks
  readonly #restoration: Restoration
  readonly #leftOut: LeftOut
  readonly #confirmations = new Confirmations()
  readonly #routes = new RouteIndex()
  /** Gateways as they were last seen. */
  readonly #seen = new Map<
    string,
    { readonly uid: string; readonly ownership: Ownership; readonly unit: string | null }
  >()
  /** Gateways whose load balancer is not as requested. */
  readonly #refused = new Set<string>()
  /** Secrets by the Gateway that names them. */
  readonly #secrets = new Map<string, ReadonlySet<string>>()
  #named = false
  readonly #departed = new Set<string>()
  readonly #busy = new Map<string, string>()
  readonly #withdrawing = new Map<string, Set<string>>()
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #stop = new AbortController()
  #statusWrites = 0
  #following: Promise<unknown> | null = null
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: GatewayControllerOptions) {
    this.#options = options
    const { service, settings, clock, log } = options
    this.#known = new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'gateway', clock, log })
    this.#pools = new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() })
    this.#networks = new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() })
    this.#restoration = new Restoration(clock)
    this.#leftOut = new LeftOut(clock, REFUSED_RETRY_MS)
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
    return this.#options.cluster.ready && this.#known.listed && this.#networks.listed
  }

  get counters(): GatewayControllerCounters {
    return {
      gateways: [...this.#seen.values()].filter(({ ownership }) => ownership === 'ours').length,
      loadBalancers: this.#known.size,
      routes: [...this.#routes.keys()].length,
      queued: this.#queue.size - [...this.#refused].filter((key) => this.#queue.isPaused(`${GATEWAY}${key}`)).length,
      statusWrites: this.#statusWrites,
    }
  }

  start(): void {
    const { cluster, certificates } = this.#options
    this.#unsubscribe = [
      cluster.onChange((change) => this.#changed(change)),
      certificates.onChange((secret) => this.#certificateChanged(secret)),
      this.#known.onChange((documents) => this.#shown(documents)),
    ]
    for (const one of cluster.classes()) this.#changed({ type: 'class', key: one.metadata.name })
    for (const one of cluster.gateways()) this.#changed({ type: 'gateway', key: keyOf(one) })
    for (const one of cluster.routes()) this.#changed({ type: 'route', key: keyOf(one) })
    this.#following = Promise.all(
      [this.#known, this.#pools, this.#networks].map((one) => one.follow(this.#stop.signal)),
    )
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
    await this.#following
  }

  #changed(change: ClusterChange): void {
    switch (change.type) {
      case 'class':
        this.#add(CLASS, change.key)
        for (const gateway of this.#options.cluster.gateways())
          if (gateway.spec.gatewayClassName === change.key) this.#gatewayChanged(keyOf(gateway))
        break
      case 'gateway':
        this.#gatewayChanged(change.key)
        break
      case 'route':
        this.#routeChanged(change.key)
        break
      case 'service':
        for (const route of this.#routes.ofService(change.key)) this.#addWithGateways(route)
        break
      default:
        for (const route of this.#routes.keys()) this.#addWithGateways(route)
        for (const gateway of this.#secrets.keys()) {
          this.#nameSecrets(gateway)
          this.#addGateway(gateway)
        }
    }
  }

  #certificateChanged(secret: string): void {
    for (const [gateway, secrets] of this.#secrets) if (secrets.has(secret)) this.#addGateway(gateway)
  }

  /** Says which Secrets a Gateway of ours names, as far as it may. */
  #nameSecrets(key: string): void {
    const { cluster, certificates } = this.#options
    const gateway = this.#seen.get(key)?.ownership === 'ours' ? cluster.gateway(key) : undefined
    const hasTls = gateway?.spec.listeners?.some(({ protocol }) => protocol === 'HTTPS') ?? false
    const secrets = gateway === undefined ? new Set<string>() : secretsOf(gateway, cluster.grants())
    // One whose references are not allowed yet is looked at again when grants change.
    if (hasTls) this.#secrets.set(key, secrets)
    else this.#secrets.delete(key)
    certificates.name(`${GATEWAY}${key}`, secrets)
  }

  #gatewayChanged(key: string): void {
    const { cluster } = this.#options
    const gateway = cluster.gateway(key)
    const before = this.#seen.get(key)
    const ownership = gateway === undefined ? 'foreign' : this.#ownershipOf(gateway)
    if (gateway === undefined) this.#seen.delete(key)
    else this.#seen.set(key, { uid: uidOf(gateway), ownership, unit: ownership === 'ours' ? key : null })
    if (before !== undefined && before.uid !== this.#seen.get(key)?.uid && this.#known.ofUid(before.uid).length > 0)
      this.#departed.add(before.uid)
    this.#nameSecrets(key)
    if (ownership === 'ours') this.#add(GATEWAY, key)
    if (ownership === 'deleting' || ownership === 'released' || this.#known.ofKey(key).length > 0) this.#add(LEAVE, key)
    for (const route of this.#routes.ofGateway(key)) this.#add(ROUTE, route)
  }

  #routeChanged(key: string): void {
    const { before, after } = this.#routes.put(key, this.#options.cluster.route(key))
    this.#add(ROUTE, key)
    for (const gateway of new Set([...before.gateways, ...after.gateways])) this.#addGateway(gateway)
  }

  #addWithGateways(route: string): void {
    this.#add(ROUTE, route)
    for (const gateway of this.#routes.of(route).gateways) this.#addGateway(gateway)
  }

  #addGateway(key: string): void {
    if (this.#seen.get(key)?.ownership === 'ours') this.#add(GATEWAY, key)
  }

  /** Namespaces take turns. */
  #add(kind: string, key: string): void {
    this.#queue.add(`${kind}${key}`, key.split('/', 1)[0] ?? '')
  }

  #networksChanged(): void {
    this.#leftOut.forgetAll()
    for (const key of this.#seen.keys()) this.#addGateway(key)
  }

  #tryRefusedAgain(): void {
    for (const key of this.#refused) this.#addGateway(key)
  }

  /** Load balancers changed: documents before and after, or none when the list is complete. */
  #shown(documents: readonly LoadBalancer[]): void {
    const all = documents.length === 0 ? [...this.#known.all()].map(({ document }) => document) : documents
    for (const document of all)
      for (const [uid, key] of ownersOf(document, 'gateway')) {
        const seen = this.#seen.get(key)
        if (seen?.uid === uid && seen.ownership === 'ours') this.#add(GATEWAY, key)
        else this.#add(LEAVE, key)
        if (this.#known.ofUid(uid).length === 0) this.#departed.delete(uid)
      }
    const [before, after] = documents
    if (before !== undefined && after === undefined) {
      this.#confirmations.forget(before.id)
      this.#leftOut.forget(before.id)
      this.#tryRefusedAgain()
    }
    if (documents.length > 0) return
    if (this.#known.size === 0) this.#restoration.begin(this.#claimedGateways())
    for (const key of this.#seen.keys()) this.#addGateway(key)
  }

  /** Gateways of ours with the addresses that they show, in case the control plane lost its state. */
  #claimedGateways() {
    const { cluster } = this.#options
    return [...cluster.gateways()].filter((one) => cluster.isClaimed(one)).map(withAddresses)
  }

  #ownershipOf(gateway: Gateway): Ownership {
    const { cluster } = this.#options
    return ownershipOf(gateway, cluster.gatewayClass(gateway.spec.gatewayClassName), cluster.isClaimed(gateway))
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(NOT_READY_RETRY_MS)
    this.#nameAll()
    const at = key.indexOf(':') + 1
    const [kind, name] = [key.slice(0, at), key.slice(at)]
    try {
      if (kind === CLASS) return await this.#tellClass(name)
      if (kind === ROUTE) return await this.#tellRoute(name)
      if (kind === LEAVE) return await this.#release(name)
      return await this.#balance(name)
    } catch (error) {
      if (error instanceof Stale) return retryAfter(SHORTLY_MS)
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  /** Once both sides are read: from now on what no Gateway names may go. */
  #nameAll(): void {
    if (this.#named) return
    this.#named = true
    for (const gateway of this.#seen.keys()) this.#nameSecrets(gateway)
    this.#options.certificates.complete('gateway')
  }

  async #tellClass(name: string): Promise<Outcome> {
    const { cluster } = this.#options
    const one = cluster.gatewayClass(name)
    if (one === undefined || !isOurClass(one)) return done
    const status = classStatus(one, this.#now())
    if (isDeepStrictEqual(pick(one.status, status ?? {}), status)) return done
    await cluster.writeClass(one, status)
    this.#statusWrites++
    return done
  }

  async #tellRoute(key: string): Promise<Outcome> {
    const { cluster } = this.#options
    const route = cluster.route(key)
    if (route === undefined) return done
    const gatewayAt = (gateway: string) =>
      this.#seen.get(gateway)?.ownership === 'ours' ? (cluster.gateway(gateway) ?? null) : null
    const outcomes = routeOutcomes(route, gatewayAt, this.#surroundings([]))
    const parents = routeParents(route, outcomes, this.#now())
    if (isDeepStrictEqual(route.status?.parents ?? [], parents)) return done
    await cluster.writeParents(route, parents)
    this.#statusWrites++
    return done
  }

  async #balance(key: string): Promise<Outcome> {
    const { cluster, certificates } = this.#options
    const gateway = cluster.gateway(key)
    if (gateway === undefined || this.#ownershipOf(gateway) !== 'ours') return done
    // The load balancer of an earlier Gateway of this name must go first.
    const others = this.#known.ofKey(key).filter(({ document }) => !ownersOf(document, 'gateway').has(uidOf(gateway)))
    if (others.length > 0) {
      this.#add(LEAVE, key)
      return retryAfter(SHORTLY_MS)
    }
    if (!cluster.isClaimed(gateway)) {
      await cluster.claim(gateway)
      return retryAfter(0)
    }
    // When it has been read and stored, this Gateway is looked at again.
    if ([...(this.#secrets.get(key) ?? [])].some((secret) => certificates.of(secret).type === 'waits')) return done
    const routes = this.#routes.ofGateway(key).flatMap((name) => cluster.route(name) ?? [])
    const compiled = compileGateway(gateway, routes, this.#surroundings(this.#families()))
    return this.#bring(key, gateway, compiled)
  }

  async #bring(key: string, gateway: Gateway, compiled: CompiledGateway): Promise<Outcome> {
    const { service, settings, cluster } = this.#options
    const ids = this.#known.ofUid(uidOf(gateway)).map(({ document }) => document.id)
    if (ids.some((id) => this.#busy.has(id))) return retryAfter(SHORTLY_MS)
    for (const id of ids) this.#busy.set(id, key)
    const { shown: brought, notMade } = await bringGateway(
      {
        service,
        known: this.#known,
        leftOut: this.#leftOut,
        kind: 'gateway',
        projectId: await service.projectId(),
        cluster: settings.cluster,
        defaultPools: settings.defaultPools,
        pools: () => this.#pools.fresh(),
        networks: this.#networks.all,
        awaitsPools: this.#restoration.awaits(withAddresses(gateway)),
        patienceMs: () => 0,
      },
      gateway,
      compiled,
    ).finally(() => {
      for (const id of ids) this.#busy.delete(id)
    })
    const shown = brought === null ? null : (this.#known.get(brought.document.id) ?? brought)
    const progress =
      notMade ??
      (shown === null
        ? ({ type: 'pending', reason: 'Allocating', message: 'It is being created.' } as const)
        : this.#confirmations.progressOf(shown, programmedSince(gateway), null))
    const addresses = (shown?.document.vips ?? []).map(({ address }) => address)
    const current = cluster.gateway(key)
    if (current === undefined || uidOf(current) !== uidOf(gateway)) return done
    const status = gatewayStatus(current, compiled, { progress, addresses }, this.#now())
    if (!isDeepStrictEqual(pick(current.status, status), status)) {
      await cluster.writeGateway(current, status)
      this.#statusWrites++
    }
    if (notMade === null) this.#refused.delete(key)
    else this.#refused.add(key)
    return notMade === null ? done : retryAfter(REFUSED_RETRY_MS)
  }

  /** Deletes what a Gateway leaves behind, and releases it once the nodes confirm that they hold nothing of it. */
  async #release(key: string): Promise<Outcome> {
    const { cluster, service } = this.#options
    if (cluster.isHeld(key)) return retryAfter(HELD_RETRY_MS)
    const againMs = await takeDown(
      {
        service,
        known: this.#known,
        kind: 'gateway',
        objects: cluster,
        index: { get: (name) => this.#seen.get(name) ?? null },
        namespaces: null,
        departed: this.#departed,
        busy: this.#busy,
        withdrawing: this.#withdrawing,
        addUnit: (unit) => this.#addGateway(unit),
      },
      key,
    )
    if (againMs !== null) return retryAfter(againMs)
    const gateway = cluster.gateway(key)
    const ownership = gateway === undefined ? 'foreign' : this.#ownershipOf(gateway)
    if (gateway !== undefined && (ownership === 'deleting' || ownership === 'released')) {
      const context = { service, withdrawing: this.#withdrawing }
      if (!(await isWithdrawn(context, key, uidOf(gateway), (nodes) => this.#tellOverdue(key, nodes))))
        return retryAfter(WITHDRAWAL_WAIT_MS)
      await cluster.release(gateway)
    }
    this.#withdrawing.delete(key)
    return done
  }

  #tellOverdue(gateway: string, nodes: readonly string[]): void {
    this.#options.log.warn({ event: 'not-withdrawn', gateway, nodes }, 'released although nodes have not confirmed')
  }

  #surroundings(families: readonly Family[]): GatewaySurroundings {
    const { cluster, settings, certificates } = this.#options
    return {
      certificateOf: (secret) => certificates.of(secret),
      cluster: settings.cluster,
      service: (key) => cluster.service(key),
      grants: cluster.grants(),
      labelsOf: (namespace) => cluster.labelsOf(namespace),
      poolOf: (name, backend) => backendPool(name, backend.port, cluster.slicesOf(backend.service), families),
    }
  }

  /** Those that members can have in one of the project's networks. */
  #families(): readonly Family[] {
    const known = new Set(this.#networks.all.flatMap(({ families }) => families))
    return known.size === 0 ? [4, 6] : [...known].sort()
  }

  #now(): string {
    return `${this.#options.clock.now().toISOString().slice(0, 19)}Z`
  }
}

/** As other objects show their addresses. */
const withAddresses = ({ metadata, status }: Gateway) => ({
  metadata,
  status: {
    loadBalancer: { ingress: (status?.addresses ?? []).flatMap(({ value }) => (value ? [{ ip: value }] : [])) },
  },
})

const programmedSince = ({ status }: Gateway): string | null => {
  const found = status?.conditions?.find(({ type }) => type === 'Programmed')
  return found?.status === 'True' ? found.lastTransitionTime : null
}

/** The fields of the status that we write. */
const pick = (shown: object | undefined, wanted: object): object =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, (shown as Record<string, unknown> | undefined)?.[name]]))
