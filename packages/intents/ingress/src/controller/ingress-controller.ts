import {
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  keyOf,
  ownersOf,
  shownAddresses,
  takeDown,
  uidOf,
} from '@spout/connector'
import type { LoadBalancer } from '@spout/model'
import { done, failed, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { classOf } from '../to-model/classes.ts'
import type { ClusterChange } from './cluster.ts'
import type { ControllerContext, IngressControllerOptions } from './context.ts'
import { IngressIndex, namespaceOf, unitOf } from './ingress-index.ts'
import { IngressStatuses } from './ingress-statuses.ts'
import { UnitBalancer } from './unit-balancer.ts'

export interface IngressControllerCounters {
  readonly ingresses: number
  readonly loadBalancers: number
  /** Load balancers that are not as wanted. */
  readonly refused: number
  readonly queued: number
  readonly statusWrites: number
}

const WORKERS = 32
const NOT_READY_RETRY_MS = 200
const HELD_RETRY_MS = 5000
const UNIT = 'unit/'
const LEAVE = 'leave/'

/**
 * Keeps one load balancer for the Ingresses of each namespace and class of ours, and their statuses as the load
 * balancers are. Ingresses of other classes are never written.
 *
 * The queue holds keys, not events: `unit/...` for the Ingresses of one address, `leave/namespace/name` for an Ingress
 * that goes. A worker reads both sides and writes the difference. It may run at any time; after a restart it finds
 * nothing to do. Namespaces take turns.
 */
export class IngressController {
  readonly name = 'ingress-controller'
  readonly #context: ControllerContext
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #units: UnitBalancer
  readonly #stop = new AbortController()
  #isComplete = false
  #following: Promise<unknown> | null = null
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: IngressControllerOptions) {
    const { cluster, service, settings, clock, log } = options
    this.#context = {
      ...options,
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'ingress', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      domains: new KnownDomains({ service, clock, log, onChange: () => this.#domainsChanged() }),
      index: new IngressIndex(),
      statuses: new IngressStatuses(cluster),
      busy: new Map(),
      withdrawing: new Map(),
      departed: new Set(),
      addUnit: (unit) => this.#addUnit(unit),
    }
    this.#units = new UnitBalancer(this.#context)
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log,
      workers: WORKERS,
      reconcile: (key) => this.#look(key),
    })
  }

  get counters(): IngressControllerCounters {
    const { index, known, statuses } = this.#context
    return {
      ingresses: index.count,
      loadBalancers: known.size,
      refused: this.#units.refusedUnits.length,
      queued: this.#queue.size,
      statusWrites: statuses.writes,
    }
  }

  /** The load balancers of this cluster's Ingresses in the project. */
  get known(): KnownLoadBalancers {
    return this.#context.known
  }

  /** Whether both sides were read; nothing is decided before. */
  get ready(): boolean {
    const { cluster, known, networks, domains, certificates } = this.#context
    return cluster.ready && [known, networks, domains].every(({ listed }) => listed) && certificates.ready
  }

  start(): void {
    const { cluster, known, pools, networks, domains, certificates } = this.#context
    this.#unsubscribe = [
      cluster.onChange((change) => this.#changed(change)),
      known.onChange((documents) => this.#shown(documents)),
      certificates.onChange((key) => this.#dependencyChanged(`secret ${key}`)),
    ]
    this.#classesChanged()
    this.#following = Promise.all([known, pools, networks, domains].map((one) => one.follow(this.#stop.signal)))
    this.#reconciler.start()
    this.#queue.add(COMPLETE)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
    await this.#following
  }

  #changed(change: ClusterChange): void {
    if (change.type === 'classes') this.#classesChanged()
    else if (change.type === 'ingress') this.#ingressChanged(change.key)
    else this.#dependencyChanged(`service ${change.key}`)
  }

  #classesChanged(): void {
    for (const ingress of this.#context.cluster.ingresses()) this.#ingressChanged(keyOf(ingress))
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  #dependencyChanged(name: string): void {
    for (const unit of this.#context.index.dependents.of(name)) this.#addUnit(unit)
  }

  #ingressChanged(key: string): void {
    const { cluster, index, known, statuses, departed, settings } = this.#context
    const ingress = cluster.ingress(key)
    const isLookedAt = settings.namespaces?.includes(namespaceOf(key.replace('/', ' '))) ?? true
    const leaves = ingress === undefined || ingress.metadata.deletionTimestamp !== undefined || !isLookedAt
    const ingressClass = leaves ? null : classOf(ingress, cluster.classes())
    const unit = ingress === undefined || ingressClass === null ? null : unitOf(ingress, ingressClass)
    const before = index.put(key, ingress, unit)
    if (before !== null && before.uid !== ingress?.metadata.uid) {
      statuses.forget(before.uid)
      if (known.ofUid(before.uid).length > 0) departed.add(before.uid)
    }
    for (const one of new Set([before?.unit, unit])) if (one != null) this.#addUnit(one)
    if (unit === null && known.ofKey(key).length > 0) this.#addLeaving(key)
  }

  /** Subnets decide which families members can have. */
  #networksChanged(): void {
    this.#units.leftOut.forgetAll()
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  /** They decide which names are published. */
  #domainsChanged(): void {
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  /** Load balancers changed: documents before and after, or none when the list is complete. */
  #shown(documents: readonly LoadBalancer[]): void {
    const { index, known, departed } = this.#context
    const all = documents.length === 0 ? [...known.all()].map(({ document }) => document) : documents
    for (const document of all)
      for (const [uid, key] of ownersOf(document, 'ingress')) {
        const ingress = index.get(key)
        if (ingress?.uid === uid && ingress.unit !== null) this.#addUnit(ingress.unit)
        else if (known.ofUid(uid).length > 0) this.#addLeaving(key)
        if (known.ofUid(uid).length === 0) departed.delete(uid)
      }
    const [before, after] = documents
    if (before !== undefined && after === undefined && known.get(before.id) === null) {
      this.#units.forget(before.id)
      this.#tryRefusedAgain()
    }
    if (documents.length === 0) for (const unit of index.units()) this.#addUnit(unit)
  }

  #tryRefusedAgain(): void {
    for (const unit of this.#units.refusedUnits) this.#addUnit(unit)
  }

  #addUnit(unit: string): void {
    this.#queue.add(`${UNIT}${unit}`, namespaceOf(unit))
  }

  #addLeaving(key: string): void {
    this.#queue.add(`${LEAVE}${key}`, key.split('/', 1)[0] ?? '')
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(NOT_READY_RETRY_MS)
    this.#completeOnce()
    if (key === COMPLETE) return done
    try {
      if (key.startsWith(LEAVE)) return await this.#leave(key.slice(LEAVE.length))
      return await this.#units.balance(key.slice(UNIT.length))
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  /** Everything was read: all Secrets that are named become known in this turn, so that none is taken as unnamed. */
  #completeOnce(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    this.#units.nameAllSecrets()
    this.#context.certificates.complete('ingress')
  }

  /** An Ingress is gone, or is of another class: so is what it leaves behind. */
  async #leave(key: string): Promise<Outcome> {
    const { cluster, index, known, statuses, settings } = this.#context
    if (cluster.isHeld(key)) return retryAfter(HELD_RETRY_MS)
    const ingress = cluster.ingress(key)
    if (ingress !== undefined && index.get(key)?.unit === null) {
      const ours = known.ofUid(uidOf(ingress)).flatMap(({ document }) => document.vips.map(({ address }) => address))
      const shown = shownAddresses(ingress)
      // Only what we wrote: its new controller may have written its own address by now.
      if (shown.length > 0 && shown.every((address) => ours.includes(address))) await statuses.show(ingress, [])
      statuses.forget(uidOf(ingress))
    }
    const { namespaces } = settings
    const againMs = await takeDown({ ...this.#context, kind: 'ingress', objects: cluster, namespaces }, key)
    this.#context.withdrawing.delete(key)
    return againMs === null ? done : retryAfter(againMs)
  }
}

const COMPLETE = 'complete'
