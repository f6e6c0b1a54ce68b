import {
  Confirmations,
  Dependents,
  type DocumentService,
  documentsOf,
  IntentLoop,
  type IntentOptions,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  type LoadBalancerChange,
  memberFamilies,
  ownersOf,
  REFUSED_RETRY_MS,
  type Refusal,
  SHORTLY_MS,
  type ShownLoadBalancer,
  uidOf,
  whenWithdrawn,
} from '@spout/connector'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import type { LoadBalancerObject } from '../load-balancer-object.ts'
import { FINALIZER } from '../names.ts'
import { type Compiled, compile, secretsOf, specOf } from '../to-model/compile.ts'
import { eventsOf } from '../write-back/events.ts'
import { statusFor } from '../write-back/status.ts'
import { bring } from './bring.ts'
import type { Cluster, ClusterChange } from './cluster.ts'

export interface LoadBalancerControllerOptions extends IntentOptions<Cluster> {
  readonly documents: DocumentService
}

export interface LoadBalancerControllerCounters {
  readonly loadBalancers: number
  /** How many objects are not served as their specs request. */
  readonly refused: number
  readonly queued: number
}

const WORKERS = 16

/**
 * Keeps one load balancer for each LoadBalancer object, and writes its state to the object's status. Our finalizer
 * keeps an object until its load balancer is gone from the nodes, so a missing object is no reason to delete anything.
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
  readonly #loop: IntentLoop<'object'>

  constructor(options: LoadBalancerControllerOptions) {
    this.#options = options
    const { service, settings, clock, log } = options
    this.#known = new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'load-balancer', clock, log })
    this.#pools = new KnownPools({ service, clock, log, onChange: () => this.#addRefused() })
    this.#networks = new KnownNetworks({ service, clock, log, onChange: () => this.#addAll() })
    this.#loop = new IntentLoop({
      ...{ name: this.name, workers: WORKERS, clock, log },
      isRead: () => options.cluster.ready && options.certificates.ready,
      follows: [this.#known, this.#pools, this.#networks],
      begin: () => this.#nameAllSecrets(),
      looks: { object: (key) => this.#look(key) },
    })
  }

  get counters(): LoadBalancerControllerCounters {
    return { loadBalancers: this.#known.size, refused: this.#refused.size, queued: this.#loop.size }
  }

  /** The load balancers that the project has for LoadBalancer objects of this cluster. */
  get known(): KnownLoadBalancers {
    return this.#known
  }

  get ready(): boolean {
    return this.#loop.ready
  }

  start(): void {
    const { cluster, certificates } = this.#options
    this.#addAll()
    this.#loop.start([
      cluster.onChange((change) => this.#changed(change)),
      this.#known.onChange((change) => this.#shown(change)),
      certificates.onChange((key) => this.#dependencyChanged(`secret ${key}`)),
    ])
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  #changed({ type, key }: ClusterChange): void {
    if (type === 'object') this.#add(key)
    else this.#dependencyChanged(`${type} ${key}`)
    if (type === 'service') this.#dependencyChanged(`services ${key.split('/', 1)[0]}`)
  }

  #dependencyChanged(name: string): void {
    for (const key of this.#dependents.of(name)) this.#add(key)
  }

  #shown(change: LoadBalancerChange): void {
    if (change.type === 'listed') this.#addAll()
    for (const document of documentsOf(change))
      for (const key of ownersOf(document, 'load-balancer').values()) this.#add(key)
    if (change.type !== 'gone') return
    this.#confirmations.forget(change.document.id)
    this.#written.delete(change.document.id)
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
    if (this.#isWatched(namespace)) this.#loop.add('object', key, namespace)
  }

  #isWatched(namespace: string): boolean {
    return this.#options.settings.namespaces?.includes(namespace) ?? true
  }

  async #look(key: string): Promise<Outcome> {
    const { cluster } = this.#options
    const object = cluster.object(key)
    if (object !== undefined) return this.#settle(key, object)
    if (cluster.isElsewhere(key)) await this.#leave(key)
    this.#forget(key)
    return done
  }

  /**
   * Registers the Secrets of all objects before `complete`. A Secret that was registered later would count as unused.
   */
  #nameAllSecrets(): void {
    const { cluster, certificates } = this.#options
    for (const object of cluster.objects()) {
      const spec = specOf(object)
      if (this.#isWatched(object.metadata.namespace ?? '') && 'value' in spec)
        this.#nameSecrets(keyOf(object), secretsOf(object, spec.value))
    }
    certificates.complete('load-balancer')
  }

  #nameSecrets(key: string, secrets: ReadonlySet<string>): void {
    this.#options.certificates.name(`load-balancer/${key}`, secrets)
  }

  /** Deletes the load balancer of an object that moved to another project before it showed an address of this one. */
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
      return retryAfter(SHORTLY_MS)
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
    return {
      cluster: settings.cluster,
      certificate: (key: string) => certificates.of(key),
      service: (key: string) => cluster.service(key),
      services: (namespace: string) => cluster.services(namespace),
      slicesOf: (key: string) => cluster.slicesOf(key),
      slice: (key: string) => cluster.slice(key),
      families: memberFamilies(this.#networks.all, [4]),
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

  /** Shows why the object cannot be served as its spec requests. What was served before stays. */
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
    const { cluster, clock, settings } = this.#options
    const [problem] = problems
    const programmed = object.status?.conditions?.find(({ type, status }) => type === 'Programmed' && status === 'True')
    const progress =
      shown !== null
        ? this.#confirmations.progressOf(shown, programmed?.lastTransitionTime ?? null, null)
        : problem === undefined
          ? ({ type: 'pending', reason: 'Pending', message: 'Its load balancer is being made.' } as const)
          : ({ type: 'refused', refusal: problem } as const)
    const page = shown === null ? null : (settings.page?.(shown.document.id) ?? null)
    const status = statusFor(object, shown, progress, problems, page, clock.now())
    await cluster.writeStatus(object, status)
    for (const event of eventsOf(object.status?.conditions ?? [], status.conditions ?? [])) cluster.tell(object, event)
    if (problem === undefined) this.#refused.delete(key)
    else this.#refused.add(key)
    return problem === undefined ? done : retryAfter(REFUSED_RETRY_MS)
  }

  /** Deletes the load balancer of a deleted object, and releases the object once the nodes have confirmed that. */
  async #release(key: string, object: LoadBalancerObject): Promise<Outcome> {
    const { cluster, service, log } = this.#options
    for (const { document } of this.#known.ofUid(uidOf(object))) {
      await service.delete(document.id)
      this.#known.forget(document.id)
      this.#withdrawing.set(key, (this.#withdrawing.get(key) ?? new Set()).add(document.id))
    }
    const context = { service, withdrawing: this.#withdrawing }
    const warn = (waitingFor: readonly string[]) =>
      log.warn(
        { event: 'not-withdrawn', object: key, waitingFor },
        'nodes have not confirmed that they no longer serve a deleted load balancer',
      )
    return whenWithdrawn(context, { key, uid: uidOf(object) }, warn, () => cluster.release(object))
  }
}
