import { keyOf, PendingReasons, uidOf } from '@spout/connector'
import { apiTime, type ObjectEvent, type Service, UnseenWrites } from '@spout/kube'
import type { Clock } from '@spout/runtime'
import { CONDITION_PROGRAMMED } from '../names.ts'
import { eventsOf } from '../write-back/events.ts'
import { differInReason, type StatusInput, shows, statusOf, type WrittenStatus } from '../write-back/status.ts'
import type { Cluster } from './cluster.ts'
import { ToldAddresses } from './told-addresses.ts'

/** Writes the status of a Service when it differs from what the Service shows, and records events. */
export class StatusWriter {
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #pending: PendingReasons
  readonly #isMass: () => boolean
  readonly #written: UnseenWrites<WrittenStatus>
  readonly #working = new ToldAddresses()
  #writes = 0

  /**
   * @param lookAgain called with the key of a Service whose reason has lasted so long that it must be reported
   * @param isMass whether so many Services are queued that a status which will soon change is not worth a write
   */
  constructor(cluster: Cluster, clock: Clock, lookAgain: (key: string) => void, isMass: () => boolean = () => false) {
    this.#cluster = cluster
    this.#clock = clock
    this.#isMass = isMass
    this.#written = new UnseenWrites(clock)
    this.#pending = new PendingReasons(clock, lookAgain)
  }

  /** Status writes since the start. */
  get writes(): number {
    return this.#writes
  }

  async write(input: Omit<StatusInput, 'now'>): Promise<void> {
    const service = this.#newest(input.service)
    const now = apiTime(this.#clock.now())
    const wanted = statusOf({ ...input, service, now })
    if (input.progress.type === 'pending') return this.#writePending(service, wanted)
    this.#pending.forget(uidOf(service))
    return this.set(service, wanted, input.page)
  }

  /** @param page where the web page shows its load balancer, for events */
  async set(seen: Service, wanted: WrittenStatus, page: string | null = null): Promise<void> {
    const service = this.#newest(seen)
    if (shows(service, wanted)) return
    const before = service.status?.conditions ?? []
    await this.#put(service, wanted)
    const works = this.#working.take(service, wanted, page)
    for (const event of eventsOf(before, wanted)) this.#tell(service, wanted, event)
    // With many Services, one event for each costs the API server too much. The condition says the same.
    if (works !== null && !this.#isMass()) this.#cluster.tell(service, works)
  }

  #tell(service: Service, { conditions }: WrittenStatus, event: ObjectEvent): void {
    this.#cluster.tell(service, event)
    const programmed = conditions.find(({ type }) => type === CONDITION_PROGRAMMED)
    if (programmed?.status === 'False' && programmed.reason === event.reason) this.#working.forget(uidOf(service))
  }

  /** The watch shows a new version of this Service. From the version that we wrote on, the watch is right. */
  seen(service: Service): void {
    this.#written.of(service)
  }

  /** The Service is gone. */
  forget(uid: string): void {
    this.#written.forget(uid)
    this.#pending.forget(uid)
    this.#working.forget(uid)
  }

  close(): void {
    this.#pending.close()
  }

  /**
   * Writes the status of a Service that waits for its nodes, with as few writes as possible: the wait is usually over
   * in a moment, and then a single write shows the addresses and that they work.
   *
   * A Service that shows no addresses yet gets them once the first moment (`BEGINS_MS`) is over. While many Services
   * are queued, it gets them only once its reason has lasted (`STAYS_AFTER_MS`). A new reason alone is written, and the
   * event recorded, only once it has lasted.
   */
  async #writePending(service: Service, wanted: WrittenStatus): Promise<void> {
    const uid = uidOf(service)
    const shown = shows(service, wanted)
    const reason = wanted.conditions.find(({ type }) => type === CONDITION_PROGRAMMED)?.reason ?? ''
    const [known, isMass] = [shown && !this.#pending.has(uid), this.#isMass()]
    const stage = this.#pending.look(uid, keyOf(service), reason, known, isMass)
    const showsNothing = (service.status?.loadBalancer?.ingress ?? []).length === 0
    const mayPass = stage === 'begins' || stage === 'passing'
    const waits = mayPass && (showsNothing ? stage === 'begins' || isMass : differInReason(service, wanted))
    if (!shown && !waits) {
      const before = service.status?.conditions ?? []
      await this.#put(service, wanted)
      this.#working.take(service, wanted)
      for (const event of eventsOf(before, wanted, 'waits')) this.#cluster.tell(service, event)
    }
    if (stage === 'stays') for (const event of eventsOf([], wanted)) this.#tell(service, wanted, event)
  }

  async #put(service: Service, wanted: WrittenStatus): Promise<void> {
    const version = await this.#cluster.writeStatus(service, wanted)
    this.#writes++
    if (version !== null) this.#written.add(service, wanted, version)
  }

  /**
   * The newest known version of the Service. It has the status that we wrote last if the watch has not shown that yet.
   */
  #newest(service: Service): Service {
    const current = this.#cluster.service(keyOf(service))
    const base = current !== undefined && uidOf(current) === uidOf(service) ? current : service
    // If the watch has shown our write already, it may also have shown later writes by others: then those count.
    const written = this.#written.of(base)
    if (written === null) return base
    const { ingress, conditions } = written
    return { ...base, status: { loadBalancer: { ingress }, conditions } }
  }
}
