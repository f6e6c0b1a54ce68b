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
  shownAddresses,
  takeDown,
  uidOf,
} from '@spout/connector'
import type { Outcome } from '@spout/runtime'
import { classOf } from '../to-model/classes.ts'
import type { ClusterChange } from './cluster.ts'
import type { ControllerContext, IngressControllerOptions } from './context.ts'
import { IngressIndex, namespaceOf, unitOf } from './ingress-index.ts'
import { IngressStatuses } from './ingress-statuses.ts'
import { UnitBalancer } from './unit-balancer.ts'

export interface IngressControllerCounters {
  readonly ingresses: number
  readonly loadBalancers: number
  /** Units whose load balancer differs from the wanted one. */
  readonly refused: number
  readonly queued: number
  readonly statusWrites: number
}

const WORKERS = 32

/**
 * Keeps one load balancer for the Ingresses of each namespace and class of ours, and writes its addresses to their
 * statuses. Ingresses of other classes are never written.
 *
 * The queue has two kinds of keys. `unit` stands for the Ingresses of one namespace and class, `leave` for an Ingress
 * that is gone or has another class now.
 */
export class IngressController {
  readonly name = 'ingress-controller'
  readonly #context: ControllerContext
  readonly #loop: IntentLoop<'unit' | 'leave'>
  readonly #units: UnitBalancer

  constructor(options: IngressControllerOptions) {
    const { cluster, certificates, service, settings, clock, log } = options
    this.#context = {
      ...options,
      kind: 'ingress',
      known: new KnownLoadBalancers({ service, cluster: settings.cluster, kind: 'ingress', clock, log }),
      pools: new KnownPools({ service, clock, log, onChange: () => this.#tryRefusedAgain() }),
      networks: new KnownNetworks({ service, clock, log, onChange: () => this.#networksChanged() }),
      domains: new KnownDomains({ service, clock, log, onChange: () => this.#addAll() }),
      index: new IngressIndex(),
      statuses: new IngressStatuses(cluster, clock),
      busy: new Map(),
      withdrawing: new Map(),
      departed: new Set(),
      addUnit: (unit) => this.#addUnit(unit),
      addLeaving: (key) => this.#loop.add('leave', key),
    }
    this.#units = new UnitBalancer(this.#context)
    const { known, pools, networks, domains } = this.#context
    this.#loop = new IntentLoop({
      ...{ name: this.name, workers: WORKERS, clock, log },
      isRead: () => cluster.ready && certificates.ready,
      follows: [known, pools, networks, domains],
      begin: () => this.#begin(),
      looks: { unit: (unit) => this.#units.balance(unit), leave: (key) => this.#leave(key) },
    })
  }

  get counters(): IngressControllerCounters {
    const { index, known, statuses } = this.#context
    return {
      ingresses: index.count,
      loadBalancers: known.size,
      refused: this.#units.refusedUnits.length,
      queued: this.#loop.size,
      statusWrites: statuses.writes,
    }
  }

  /** The load balancers of this cluster's Ingresses in the project. */
  get known(): KnownLoadBalancers {
    return this.#context.known
  }

  get ready(): boolean {
    return this.#loop.ready
  }

  start(): void {
    const { cluster, known, certificates } = this.#context
    this.#classesChanged()
    this.#loop.start([
      cluster.onChange((change) => this.#changed(change)),
      known.onChange((change) => this.#shown(change)),
      certificates.onChange((key) => this.#dependencyChanged(`secret ${key}`)),
    ])
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  #changed(change: ClusterChange): void {
    if (change.type === 'classes') this.#classesChanged()
    else if (change.type === 'ingress') this.#ingressChanged(change.key)
    else this.#dependencyChanged(`${change.type === 'backend' ? 'service' : 'config-map'} ${change.key}`)
  }

  #classesChanged(): void {
    for (const ingress of this.#context.cluster.ingresses()) this.#ingressChanged(keyOf(ingress))
    this.#addAll()
  }

  #dependencyChanged(name: string): void {
    for (const unit of this.#context.index.dependents.of(name)) this.#addUnit(unit)
  }

  #ingressChanged(key: string): void {
    const { cluster, index, known, statuses, addLeaving, settings } = this.#context
    const ingress = cluster.ingress(key)
    const isLookedAt = settings.namespaces?.includes(namespaceOf(key.replace('/', ' '))) ?? true
    const leaves = ingress === undefined || ingress.metadata.deletionTimestamp !== undefined || !isLookedAt
    const ingressClass = leaves ? null : classOf(ingress, cluster.classes())
    const unit = ingress === undefined || ingressClass === null ? null : unitOf(ingress, ingressClass)
    const before = index.put(key, ingress, unit)
    if (before !== null && before.uid !== ingress?.metadata.uid) statuses.forget(before.uid)
    noteDeparted(this.#context, before, ingress?.metadata.uid)
    for (const one of new Set([before?.unit, unit])) if (one != null) this.#addUnit(one)
    if (unit === null && known.ofKey(key).length > 0) addLeaving(key)
  }

  /** Subnets decide which families members can have. */
  #networksChanged(): void {
    this.#units.leftOut.forgetAll()
    this.#addAll()
  }

  #addAll(): void {
    for (const unit of this.#context.index.units()) this.#addUnit(unit)
  }

  #shown(change: LoadBalancerChange): void {
    queueOwners(this.#context, change)
    if (change.type === 'listed') this.#addAll()
    if (change.type !== 'gone') return
    this.#units.forget(change.document.id)
    this.#tryRefusedAgain()
  }

  #tryRefusedAgain(): void {
    for (const unit of this.#units.refusedUnits) this.#addUnit(unit)
  }

  #addUnit(unit: string): void {
    this.#loop.add('unit', unit, namespaceOf(unit))
  }

  /** Registers all named Secrets in one turn. Otherwise one that is registered late would count as unused. */
  #begin(): void {
    this.#units.nameAllSecrets()
    this.#context.certificates.complete('ingress')
  }

  /** An Ingress is gone, or belongs to another class: deletes what it leaves behind. */
  async #leave(key: string): Promise<Outcome> {
    const { cluster, settings } = this.#context
    await this.#takeAddressesBack(key)
    return takeDown({ ...this.#context, objects: cluster, namespaces: settings.namespaces }, key)
  }

  /** Removes only addresses that we wrote: the new controller may have written its own by now. */
  async #takeAddressesBack(key: string): Promise<void> {
    const { cluster, index, known, statuses } = this.#context
    const ingress = cluster.ingress(key)
    if (ingress === undefined || index.get(key)?.unit !== null) return
    const ours = known.ofUid(uidOf(ingress)).flatMap(({ document }) => document.vips.map(({ address }) => address))
    const shown = shownAddresses(ingress)
    if (shown.length > 0 && shown.every((address) => ours.includes(address))) await statuses.show(ingress, [])
    statuses.forget(uidOf(ingress))
  }
}
