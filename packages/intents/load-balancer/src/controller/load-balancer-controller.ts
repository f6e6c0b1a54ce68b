import {
  Confirmations,
  Dependents,
  type DocumentService,
  isWithdrawn,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  type LoadBalancerService,
  ownersOf,
  type Refusal,
  type ShownLoadBalancer,
  Stale,
  type TlsCertificates,
  uidOf,
} from '@spout/connector'
import { isConflict, isNotFound } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import type { LoadBalancerObject } from '../load-balancer-object.ts'
import { FINALIZER } from '../names.ts'
import { type Compiled, compile, secretsOf, specOf } from '../to-model/compile.ts'
import { statusFor } from '../write-back/status.ts'
import { bring } from './bring.ts'
import type { Cluster, ClusterChange } from './cluster.ts'

export interface LoadBalancerControllerOptions {
  readonly cluster: Cluster
  readonly service: LoadBalancerService
  readonly documents: DocumentService
  /** Of the project. Started and stopped by who made it. */
  readonly certificates: TlsCertificates
  readonly settings: {
    /** Id of this cluster: tells its load balancers from those of other clusters in the project. Never changes. */
    readonly cluster: string
    /** Only these namespaces; null for all. */
    readonly namespaces: readonly string[] | null
    /** Names of address pools for objects that name none, in order; empty allows any. */
    readonly defaultPools: readonly string[]
  }
  readonly clock: Clock
  readonly log: Logger
}

export interface LoadBalancerControllerCounters {
  readonly loadBalancers: number
  /** Objects that are not served as they say. */
  readonly refused: number
  readonly queued: number
}

const WORKERS = 16
const NOT_READY_RETRY_MS = 200
const AGAIN_MS = 50
const WITHDRAWN_RETRY_MS = 500
const REFUSED_RETRY_MS = 30_000
const COMPLETE = 'complete'

/**
 * Keeps one load balancer for each LoadBalancer object, and the object's status as the load balancer is.
 *
 * The queue holds keys of objects, not events. A worker reads both sides and writes the difference. It may run at any
 * time; after a restart it finds nothing to do. Namespaces take turns. Our finalizer keeps an object until its load
 * balancer is gone from the nodes, so nothing is deleted because an object is missing.
 */
export class LoadBalancerController {
  readonly name = 'load-balancer-controller'
  readonly #options: LoadBalancerControllerOptions
  readonly #known: KnownLoadBalancers
  readonly #pools: KnownPools
  readonly #networks: KnownNetworks
  readonly #dependents = new Dependents()
  readonly #confirmations = new Confirmations()
  readonly #written = new Map<string, string>()
  readonly #withdrawing = new Map<string, Set<string>>()
  readonly #refused = new Set<string>()
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #stop = new AbortController()
  #isComplete = false
  #following: Promise<unknown> | null = null
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: LoadBalancerControllerOptions) {
    this.#options = options
    const { service, settings, clock, log } = options
    this.#known = new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'load-balancer', clock, log })
    this.#pools = new KnownPools({ service, clock, log, onChange: () => this.#addRefused() })
    this.#networks = new KnownNetworks({ service, clock, log, onChange: () => this.#addAll() })
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log,
      workers: WORKERS,
      reconcile: (key) => this.#look(key),
    })
  }

  get counters(): LoadBalancerControllerCounters {
    return { loadBalancers: this.#known.size, refused: this.#refused.size, queued: this.#queue.size }
  }

  /** The load balancers of the project. */
  get known(): KnownLoadBalancers {
    return this.#known
  }

  /** Whether both sides were read; nothing is decided before. */
  get ready(): boolean {
    const { cluster, certificates } = this.#options
    return cluster.ready && this.#known.listed && this.#networks.listed && certificates.ready
  }

  start(): void {
    const { cluster, certificates } = this.#options
    this.#unsubscribe = [
      cluster.onChange((change) => this.#changed(change)),
      this.#known.onChange((documents) => this.#shown(documents)),
      certificates.onChange((key) => this.#dependencyChanged(`secret ${key}`)),
    ]
    this.#addAll()
    this.#following = Promise.all(
      [this.#known, this.#pools, this.#networks].map((one) => one.follow(this.#stop.signal)),
    )
    this.#reconciler.start()
    this.#queue.add(COMPLETE)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
    await this.#following
  }

  #changed({ type, key }: ClusterChange): void {
    if (type === 'object') this.#add(key)
    else this.#dependencyChanged(`${type} ${key}`)
    if (type === 'service') this.#dependencyChanged(`services ${key.split('/', 1)[0]}`)
  }

  #dependencyChanged(name: string): void {
    for (const key of this.#dependents.of(name)) this.#add(key)
  }

  /** Load balancers changed: documents before and after, or none when the list is complete. */
  #shown(documents: readonly LoadBalancer[]): void {
    if (documents.length === 0) this.#addAll()
    for (const document of documents) for (const key of ownersOf(document, 'load-balancer').values()) this.#add(key)
    const [before, after] = documents
    if (before === undefined || after !== undefined || this.#known.get(before.id) !== null) return
    this.#confirmations.forget(before.id)
    this.#written.delete(before.id)
    this.#addRefused()
  }

  #addAll(): void {
    for (const object of this.#options.cluster.objects()) this.#add(keyOf(object))
  }

  #addRefused(): void {
    for (const key of this.#refused) this.#add(key)
  }

  #add(key: string): void {
    const [namespace = ''] = key.split('/', 1)
    if (this.#isLookedAt(namespace)) this.#queue.add(key, namespace)
  }

  #isLookedAt(namespace: string): boolean {
    return this.#options.settings.namespaces?.includes(namespace) ?? true
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(NOT_READY_RETRY_MS)
    this.#completeOnce()
    if (key === COMPLETE) return done
    const object = this.#options.cluster.object(key)
    try {
      if (object === undefined) {
        if (this.#options.cluster.isElsewhere(key)) await this.#leave(key)
        this.#forget(key)
        return done
      }
      return await this.#settle(key, object)
    } catch (error) {
      // Our copy is outdated: the watch will show the change.
      if (isConflict(error) || isNotFound(error) || error instanceof Stale) return retryAfter(AGAIN_MS)
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  /** Everything was read: all Secrets that are named become known in this turn, so that none is taken as unnamed. */
  #completeOnce(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    const { cluster, certificates } = this.#options
    for (const object of cluster.objects()) {
      const spec = specOf(object)
      if (this.#isLookedAt(object.metadata.namespace ?? '') && 'value' in spec)
        this.#nameSecrets(keyOf(object), secretsOf(object, spec.value))
    }
    certificates.complete('load-balancer')
  }

  #nameSecrets(key: string, secrets: ReadonlySet<string>): void {
    this.#options.certificates.name(`load-balancer/${key}`, secrets)
  }

  /** The object went to another project before it showed an address of this one. */
  async #leave(key: string): Promise<void> {
    for (const { document } of this.#known.ofKey(key)) {
      await this.#options.service.delete(document.id)
      this.#known.forget(document.id)
    }
  }

  #forget(key: string): void {
    this.#nameSecrets(key, new Set())
    this.#dependents.depend(key, new Set())
    this.#refused.delete(key)
    this.#withdrawing.delete(key)
  }

  async #settle(key: string, object: LoadBalancerObject): Promise<Outcome> {
    const { cluster } = this.#options
    const claimed = object.metadata.finalizers?.includes(FINALIZER) ?? false
    if (object.metadata.deletionTimestamp !== undefined) return claimed ? this.#release(key, object) : done
    if (!claimed) {
      await cluster.claim(object)
      return retryAfter(AGAIN_MS)
    }
    const spec = specOf(object)
    if ('refusal' in spec) return this.#refuse(key, object, spec.refusal)
    this.#nameSecrets(key, secretsOf(object, spec.value))
    const compiled = compile(object, spec.value, this.#surroundings())
    if ('refusal' in compiled) return this.#refuse(key, object, compiled.refusal)
    this.#dependents.depend(key, compiled.value.dependencies)
    if (compiled.value.waits) return done
    return this.#bring(key, object, compiled.value)
  }

  #surroundings() {
    const { cluster, certificates, settings } = this.#options
    const families = [...new Set(this.#networks.all.flatMap((network) => network.families))].sort()
    return {
      cluster: settings.cluster,
      certificate: (key: string) => certificates.of(key),
      service: (key: string) => cluster.service(key),
      services: (namespace: string) => cluster.services(namespace),
      slicesOf: (key: string) => cluster.slicesOf(key),
      slice: (key: string) => cluster.slice(key),
      families: families.length === 0 ? ([4] as const) : families,
    }
  }

  async #bring(key: string, object: LoadBalancerObject, compiled: Compiled): Promise<Outcome> {
    const { service, documents, settings } = this.#options
    const { shown, refusal } = await bring(
      {
        ...{ service, documents, known: this.#known, written: this.#written, awaitsPools: false },
        ...{ defaultPools: settings.defaultPools, networks: this.#networks.all, pools: () => this.#pools.fresh() },
      },
      object,
      compiled,
    )
    const newest = shown === null ? null : (this.#known.get(shown.document.id) ?? shown)
    return this.#show(key, object, newest, refusal === null ? compiled.problems : [refusal, ...compiled.problems])
  }

  /** The object as it is cannot be served; what was served before stays. */
  #refuse(key: string, object: LoadBalancerObject, refusal: Refusal): Promise<Outcome> {
    const [held] = this.#known.ofUid(uidOf(object))
    return this.#show(key, object, held ?? null, [refusal])
  }

  async #show(
    key: string,
    object: LoadBalancerObject,
    shown: ShownLoadBalancer | null,
    problems: readonly Refusal[],
  ): Promise<Outcome> {
    const { cluster, clock } = this.#options
    const [problem] = problems
    const said = object.status?.conditions?.find(({ type, status }) => type === 'Programmed' && status === 'True')
    const progress =
      shown !== null
        ? this.#confirmations.progressOf(shown, said?.lastTransitionTime ?? null, null)
        : problem === undefined
          ? ({ type: 'pending', reason: 'Pending', message: 'Its load balancer is being made.' } as const)
          : ({ type: 'refused', refusal: problem } as const)
    await cluster.writeStatus(object, statusFor(object, shown, progress, problems, clock.now()))
    if (problem === undefined) this.#refused.delete(key)
    else this.#refused.add(key)
    return problem === undefined ? done : retryAfter(REFUSED_RETRY_MS)
  }

  /** The object goes once its load balancer is gone from the nodes. */
  async #release(key: string, object: LoadBalancerObject): Promise<Outcome> {
    const { cluster, service, log } = this.#options
    for (const { document } of this.#known.ofUid(uidOf(object))) {
      await service.delete(document.id)
      this.#known.forget(document.id)
      this.#withdrawing.set(key, (this.#withdrawing.get(key) ?? new Set()).add(document.id))
    }
    const context = { service, withdrawing: this.#withdrawing }
    const warn = (waitingFor: readonly string[]) =>
      log.warn({ event: 'not-withdrawn', object: key, waitingFor }, 'nodes have not confirmed a deletion')
    if (!(await isWithdrawn(context, key, uidOf(object), warn))) return retryAfter(WITHDRAWN_RETRY_MS)
    await cluster.release(object)
    return done
  }
}
