import {
  alone,
  type CertificateSight,
  type EligibleNode,
  keyOf,
  LeftOut,
  livingUnits,
  type Progress,
  REFUSED_RETRY_MS,
  SHORTLY_MS,
  type ShownLoadBalancer,
  uidOf,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { parseIp } from '@spout/net'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { ownAddresses } from '../to-model/external-ips.ts'
import { servicesOf } from '../to-model/services-of.ts'
import { secretOf } from '../to-model/tls.ts'
import { bringTo } from './address-group.ts'
import type { ControllerContext } from './context.ts'
import {
  areSameSlices,
  differInMembersAlone,
  type SettledGroup,
  SettledUnits,
  type UnitSight,
} from './settled-units.ts'
import { type PlannedGroup, planUnit, type UnitPlan } from './unit-plan.ts'
import { UnitStatuses } from './unit-statuses.ts'

/** Reconciles the load balancers of a unit, and writes the statuses of its Services. */
export class UnitBalancer {
  readonly leftOut: LeftOut
  readonly #context: ControllerContext
  readonly #statuses: UnitStatuses
  readonly #settled = new SettledUnits()
  /** How many Services of each unit do not have what they request. Units where all do are absent. */
  readonly #refused = new Map<string, number>()

  constructor(context: ControllerContext) {
    this.#context = context
    this.leftOut = new LeftOut(context.clock, REFUSED_RETRY_MS)
    this.#statuses = new UnitStatuses(context, this.leftOut)
  }

  /** Units with a Service whose request is refused. */
  get refusedUnits(): readonly string[] {
    return [...this.#refused.keys()]
  }

  get refusedServices(): number {
    return [...this.#refused.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Forces a new plan: something changed that `UnitSight` does not include, such as a certificate. */
  unsettle(unit: string): void {
    this.#settled.forget(unit)
  }

  /** A load balancer is gone. */
  forget(id: string): void {
    this.#statuses.forget(id)
    this.leftOut.forget(id)
  }

  async balance(unit: string, nodes: readonly EligibleNode[]): Promise<Outcome> {
    const { cluster, index, working } = this.#context
    const services = index.keysOf(unit).flatMap((key) => cluster.service(key) ?? [])
    if (services.length === 0) {
      this.#refused.delete(unit)
      this.#settled.forget(unit)
      return done
    }
    // The unit is queued again once its Secret has been read and its certificate stored.
    if (services.some((service) => this.#certificateOf(service)?.type === 'waits')) return done
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
    const { busy } = this.#context
    const documents = this.#documentsOf(unit, services).map(({ document }) => document)
    const ids = documents.map(({ id }) => id)
    return alone(busy, ids, unit, () => this.#bringAlone(unit, services, nodes, documents))
  }

  async #bringAlone(
    unit: string,
    services: readonly Service[],
    nodes: readonly EligibleNode[],
    documents: readonly LoadBalancer[],
  ): Promise<Outcome> {
    const { cluster } = this.#context
    const networks = this.#context.networks.all
    let sight: UnitSight = { services, slices: this.#slicesOf(services), nodes, networks, documents }
    // Asked anew each time: the project of a Service may change while the Service stays the same.
    const mayStay = services.every((service) => cluster.barred(service) === null && cluster.isClaimed(service))
    const settled = mayStay ? this.#settled.groupsOf(unit, sight) : null
    if (settled !== null) {
      for (const group of settled) await this.#statuses.write(group, this.#shownOf(group), null)
      return done
    }
    let plan = this.#plan(sight)
    this.#settled.forget(unit)
    const brought: (readonly [PlannedGroup, LoadBalancer])[] = []
    // While a new Service is claimed, its endpoints often arrive. A new plan includes them, which saves a second write.
    const claimed = new Set<string>()
    while (await this.#claim(plan, claimed)) {
      const slices = this.#slicesOf(services)
      if (areSameSlices(slices, sight.slices)) break
      sight = { ...sight, slices }
      plan = this.#plan(sight)
    }
    let refusals = plan.refused.length
    for (const group of plan.groups) {
      const { refused, asRequested } = await this.#bring(group, networks)
      refusals += refused
      if (asRequested !== null) brought.push([group, asRequested])
    }
    for (const { service, refusal } of plan.refused) await this.#statuses.refuse(service, refusal)
    if (refusals === 0 && brought.length === plan.groups.length) this.#settle(unit, sight, brought)
    if (refusals > 0) this.#refused.set(unit, refusals)
    else this.#refused.delete(unit)
    return refusals > 0 ? retryAfter(REFUSED_RETRY_MS) : done
  }

  #slicesOf(services: readonly Service[]): UnitSight['slices'] {
    return services.map((service) => this.#context.cluster.slicesOf(keyOf(service)))
  }

  #plan({ services, slices, nodes, networks, documents }: UnitSight): UnitPlan {
    const { cluster, settings } = this.#context
    const slicesOf = new Map(services.map((service, at) => [service, slices[at] ?? []]))
    return planUnit({
      services,
      documents,
      cluster: settings.cluster,
      externalRanges: settings.externalRanges,
      barred: (service) => cluster.barred(service)?.refusal ?? null,
      surroundings: (service) => ({
        slices: slicesOf.get(service) ?? [],
        nodes,
        mode: settings.mode,
        className: settings.className,
        networks,
        ...(this.#context.certificates && { certificateOf: (key: string) => this.#context.certificates!.of(key) }),
      }),
    })
  }

  /** The certificate of the Secret that the Service names; null when it names none. */
  #certificateOf(service: Service): CertificateSight | null {
    const key = secretOf(service)
    return key === null ? null : (this.#context.certificates?.of(key) ?? null)
  }

  /**
   * Puts our finalizer on Services before anything is created for them.
   * @param claimed UIDs of Services that have it; new ones are added
   * @returns whether a Service lacked it
   */
  async #claim({ groups }: UnitPlan, claimed: Set<string>): Promise<boolean> {
    const { cluster } = this.#context
    const isUnclaimed = ({ service }: PlannedGroup['services'][number]) =>
      !cluster.isClaimed(service) && !claimed.has(uidOf(service))
    const unclaimed = groups.filter(({ services }) => services.some(isUnclaimed))
    // The pools are needed next for a new load balancer. Reading them now runs in parallel with the claims.
    if (unclaimed.some(({ heldBy }) => heldBy === null)) this.#context.pools.fresh().catch(() => {})
    const services = unclaimed.flatMap((group) => group.services.filter(isUnclaimed))
    await Promise.all(services.map(({ service }) => cluster.claim(service)))
    for (const { service } of services) claimed.add(uidOf(service))
    return services.length > 0
  }

  /** Remembers a unit that is as requested, so that its plan is not computed again while only statuses change. */
  #settle(unit: string, sight: UnitSight, brought: readonly (readonly [PlannedGroup, LoadBalancer])[]): void {
    const documents = this.#documentsOf(unit, sight.services).map(({ document }) => document)
    if (documents.length !== brought.length || brought.some(([, document]) => !documents.includes(document))) return
    // A plan depends on its documents, but not on their members. If anything else in a document changed, a new plan may
    // differ.
    const isAsBefore = (one: LoadBalancer) =>
      sight.documents.some((before) => before === one || differInMembersAlone(before, one))
    if (!documents.every(isAsBefore)) return
    const groups = brought.map(([{ content: _, ...group }, { id }]) => ({ ...group, heldBy: id }))
    this.#settled.put(unit, { ...sight, documents }, groups)
  }

  #shownOf({ heldBy }: SettledGroup): ShownLoadBalancer | null {
    return heldBy === null ? null : this.#context.known.get(heldBy)
  }

  /** Whether a load balancer of an earlier Service with the same name still exists. It must be deleted first. */
  #waitsForOthers(services: readonly Service[]): boolean {
    return services.some((service) =>
      this.#context.known
        .ofKey(keyOf(service))
        .some(({ document }) =>
          [...servicesOf(document)].some(([uid, key]) => key === keyOf(service) && uid !== uidOf(service)),
        ),
    )
  }

  /** Load balancers that name a Service of the unit, and no living Service of another unit. */
  #documentsOf(unit: string, services: readonly Service[]): readonly ShownLoadBalancer[] {
    const { known, index } = this.#context
    const found = new Map(
      services.flatMap((service) => known.ofUid(uidOf(service)).map((shown) => [shown.document.id, shown])),
    )
    return [...found.values()].filter(({ document }) =>
      livingUnits(index, document, 'service').every((one) => one === unit),
    )
  }

  /** @returns how many Services of the group are refused, and the document when it is as requested */
  async #bring(
    group: PlannedGroup,
    networks: UnitSight['networks'],
  ): Promise<{ readonly refused: number; readonly asRequested: LoadBalancer | null }> {
    const { service, settings, known, pools, restoration, patienceMs } = this.#context
    const {
      shown: brought,
      refusal,
      waits = false,
      refusedExternals,
    } = await bringTo(
      {
        service,
        known,
        leftOut: this.leftOut,
        kind: 'service',
        projectId: await service.projectId(),
        cluster: settings.cluster,
        defaultPools: settings.defaultPools,
        pools: () => pools.fresh(),
        networks,
        awaitsPools: group.services.some((one) => restoration.awaits(one.service)),
        patienceMs,
      },
      group,
    )
    // The watch may already show a newer status than the answer to our call.
    const shown = brought === null ? null : (known.get(brought.document.id) ?? brought)
    const notMade: Progress | null =
      refusal === null ? null : waits ? { type: 'pending', ...refusal } : { type: 'refused', refusal }
    const notHad = await this.#statuses.write(group, shown, notMade, refusedExternals)
    const leftOut = shown !== null && this.leftOut.has(shown.document.id)
    if (refusal !== null || leftOut || notHad > 0) return { refused: group.services.length, asRequested: null }
    const done = brought !== null && isDone(group, brought)
    return {
      refused: 0,
      asRequested: !done ? null : isSameVersion(brought, shown) ? shown.document : brought.document,
    }
  }
}

/** Whether both are the same version. The watch may show the result of a call before the call is answered. */
const isSameVersion = (made: ShownLoadBalancer, shown: ShownLoadBalancer | null): shown is ShownLoadBalancer =>
  shown !== null &&
  made.document.generation === shown.document.generation &&
  made.document.updatedAt === shown.document.updatedAt

/** Whether the group can get no other address: not if it names pools, or lacks an address of a family it could have. */
const isDone = ({ request, services }: PlannedGroup, { document }: ShownLoadBalancer): boolean =>
  request.pools === null &&
  request.families.every(
    ({ family }) =>
      services.every(({ unreachable }) => unreachable.has(family)) ||
      ownAddresses(document).some((address) => parseIp(address).version === family),
  )
