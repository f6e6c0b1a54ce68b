import type { Service } from '@spout/kube'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { keyOf, shownAddresses, uidOf } from '../names.ts'
import type { Refusal } from '../refusal.ts'
import type { ShownLoadBalancer } from '../spout/load-balancer-service.ts'
import type { KnownPool } from '../to-model/address-choice.ts'
import { type ExternalWish, ownAddresses, type RefusedExternal } from '../to-model/external-ips.ts'
import type { EligibleNode } from '../to-model/nodes.ts'
import { bringTo } from './address-group.ts'
import { type ControllerContext, livingUnits, REFUSED_RETRY_MS, SHORTLY_MS } from './context.ts'
import { servicesOf } from './known-load-balancers.ts'
import { LeftOut } from './left-out.ts'
import { Confirmations } from './progress.ts'
import { type PlannedGroup, planUnit } from './unit-plan.ts'

const POOLS_FRESH_MS = 2000

/** Brings the load balancers of the Services that are decided on together to what they want, and writes their statuses. */
export class UnitBalancer {
  readonly leftOut: LeftOut
  readonly #context: ControllerContext
  readonly #confirmations = new Confirmations()
  /** How many Services of a unit do not have what they wish. */
  readonly #refused = new Map<string, number>()
  #pools: { readonly pools: Promise<readonly KnownPool[]>; readonly untilMs: number } | null = null

  constructor(context: ControllerContext) {
    this.#context = context
    this.leftOut = new LeftOut(context.clock, REFUSED_RETRY_MS)
  }

  /** Units with a Service whose wish is not done. */
  get refusedUnits(): readonly string[] {
    return [...this.#refused.keys()]
  }

  get refusedServices(): number {
    return [...this.#refused.values()].reduce((sum, count) => sum + count, 0)
  }

  /** A load balancer is gone. */
  forget(id: string): void {
    this.#confirmations.forget(id)
    this.leftOut.forget(id)
  }

  async balance(unit: string, nodes: readonly EligibleNode[]): Promise<Outcome> {
    const { cluster, index, working } = this.#context
    const services = index.keysOf(unit).flatMap((key) => cluster.service(key) ?? [])
    if (services.length === 0) {
      this.#refused.delete(unit)
      return done
    }
    if (this.#waitsForOthers(services)) {
      for (const service of services) this.#context.addLeaving(keyOf(service))
      return retryAfter(SHORTLY_MS)
    }
    const keys = services.map(keyOf)
    for (const key of keys) working.add(key)
    try {
      return await this.#bringUnit(unit, services, nodes)
    } finally {
      for (const key of keys) working.delete(key)
    }
  }

  async #bringUnit(unit: string, services: readonly Service[], nodes: readonly EligibleNode[]): Promise<Outcome> {
    const { cluster, settings, busy } = this.#context
    const documents = this.#documentsOf(unit, services).map(({ document }) => document)
    if (documents.some(({ id }) => (busy.get(id) ?? unit) !== unit)) return retryAfter(SHORTLY_MS)
    const plan = planUnit({
      services,
      documents,
      cluster: settings.cluster,
      externalRanges: settings.externalRanges,
      barred: (service) => cluster.barred(service)?.refusal ?? null,
      surroundings: (service) => ({ slices: cluster.slicesOf(keyOf(service)), nodes, mode: settings.mode }),
    })
    let refusals = plan.refused.length
    for (const { id } of documents) busy.set(id, unit)
    try {
      for (const group of plan.groups) refusals += await this.#bring(group)
      for (const { service, refusal } of plan.refused) await this.#refuse(service, refusal)
    } finally {
      for (const { id } of documents) busy.delete(id)
    }
    if (refusals > 0) this.#refused.set(unit, refusals)
    else this.#refused.delete(unit)
    return refusals > 0 ? retryAfter(REFUSED_RETRY_MS) : done
  }

  /** The load balancer of an earlier Service of the same name goes first. */
  #waitsForOthers(services: readonly Service[]): boolean {
    return services.some((service) =>
      this.#context.known
        .ofKey(keyOf(service))
        .some(({ document }) =>
          [...servicesOf(document)].some(([uid, key]) => key === keyOf(service) && uid !== uidOf(service)),
        ),
    )
  }

  /** Load balancers that name a Service of the unit, and no living one of another unit. */
  #documentsOf(unit: string, services: readonly Service[]): readonly ShownLoadBalancer[] {
    const { known, index } = this.#context
    const found = new Map(
      services.flatMap((service) => known.ofUid(uidOf(service)).map((shown) => [shown.document.id, shown])),
    )
    return [...found.values()].filter(({ document }) => livingUnits(index, document).every((one) => one === unit))
  }

  /** @returns how many Services of the group are not as they wish */
  async #bring(group: PlannedGroup): Promise<number> {
    const { cluster, service, settings, known, statuses } = this.#context
    await Promise.all(
      group.services
        .filter(({ service: one }) => !cluster.isClaimed(one))
        .map(({ service: one }) => cluster.claim(one)),
    )
    const {
      shown: brought,
      refusal,
      refusedExternals,
    } = await bringTo(
      {
        service,
        known,
        leftOut: this.leftOut,
        projectId: await service.projectId(),
        cluster: settings.cluster,
        defaultPools: settings.defaultPools,
        pools: () => this.#freshPools(),
      },
      group,
    )
    // The watch may have shown a newer status than the answer to the call did.
    const shown = brought === null ? null : (known.get(brought.document.id) ?? brought)
    let refused = 0
    for (const { service: one, wish, ports, notice, externals } of group.services) {
      const notHad = [...externals.refused, ...ofWanted(externals, refusedExternals)]
      refused += notHad.length
      await statuses.write({
        service: one,
        wish,
        addresses: shown === null ? [] : ownAddresses(shown.document),
        ports,
        refusedExternals: notHad,
        progress:
          refusal !== null
            ? { type: 'refused', refusal }
            : shown === null
              ? { type: 'pending', reason: 'Allocating', message: 'It is being made.' }
              : this.#confirmations.progressOf(shown, one, this.#noticeOf(shown.document.id, one, notice)),
      })
    }
    const leftOut = shown !== null && this.leftOut.has(shown.document.id)
    return refusal !== null || leftOut || refused > 0 ? group.services.length : 0
  }

  #noticeOf(id: string, service: Service, ofDraft: Refusal | null): Refusal | null {
    return ofDraft ?? this.#leftOutNotice(id, service) ?? this.#context.cluster.notice(service)
  }

  #leftOutNotice(id: string, service: Service): Refusal | null {
    const left = this.leftOut.of(id, uidOf(service))
    if (left === null) return null
    return { reason: 'EndpointsLeftOut', field: 'endpoints', message: `${left.count} left out: ${left.reason}` }
  }

  async #refuse(service: Service, refusal: Refusal): Promise<void> {
    const { cluster, known, statuses } = this.#context
    const addresses = cluster.barred(service)?.keepsAddresses
      ? shownAddresses(service)
      : known.ofUid(uidOf(service)).flatMap(({ document }) => document.vips.map(({ address }) => address))
    await statuses.write({ service, wish: null, addresses, ports: [], progress: { type: 'refused', refusal } })
  }

  /** Those who ask at once share one call. */
  #freshPools(): Promise<readonly KnownPool[]> {
    const { clock, service } = this.#context
    if (this.#pools === null || this.#pools.untilMs <= clock.monotonicMs()) {
      const pools = service.addressPools()
      this.#pools = { pools, untilMs: clock.monotonicMs() + POOLS_FRESH_MS }
      pools.catch(() => {
        this.#pools = null
      })
    }
    return this.#pools.pools
  }
}

const ofWanted = (
  { wanted }: ExternalWish,
  refused: ReadonlyMap<string, Refusal> | undefined,
): readonly RefusedExternal[] =>
  wanted.flatMap((address) => {
    const refusal = refused?.get(address)
    return refusal === undefined ? [] : [{ address, refusal }]
  })
