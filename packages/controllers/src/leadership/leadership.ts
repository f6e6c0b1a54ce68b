import { type Clock, type Component, type Logger, pause, type Timer } from '@spout/runtime'
import type { Lease, LeasedStore } from '@spout/store'

export interface LeadershipOptions {
  readonly store: LeasedStore
  /** The lease's name. */
  readonly lease: string
  /** Who we are: of no other process, nor of an earlier start of this one. */
  readonly holder: string
  /** Starts what the leader alone does. @returns how to stop it wholly */
  readonly lead: (lease: Lease) => Promise<() => Promise<void>>
  /** Called when another leads than before, as far as is known here. Default: nobody is told. */
  readonly onLeader?: () => void
  /** Default: those of a process that is alone. */
  readonly times?: LeaseTimes
  readonly clock: Clock
  readonly log: Logger
}

export interface LeaseTimes {
  /** So long nobody leads after a leader died. */
  readonly leaseMs: number
  /** How often the leader renews its lease, and the others ask for it. */
  readonly askEveryMs: number
}

/** For a process that is alone: it loses the lease only to itself, and its disk may be slow. */
export const LEASE_MS = 3000
export const ASK_EVERY_MS = 1000
/** For processes that stand in for one another: clients wait for the next. */
export const SHARED_LEASE: LeaseTimes = { leaseMs: 2000, askEveryMs: 400 }

interface Term {
  readonly lease: Lease
  readonly stop: () => Promise<void>
}

/**
 * Leads while this process has the lease: starts the leader's part when it gets it, and stops that part wholly when it
 * loses it. From the start of the part until it has stopped, every commit of the process is under the lease, so what is
 * still under way after a loss is refused by the store.
 *
 * The lease is lost when another has it, when a commit is refused for it, or when the store has not answered for as long
 * as the lease lasts. After a standstill of the process it asks first: the store may have kept the lease for it.
 */
export class Leadership implements Component {
  readonly name = 'leadership'
  readonly #options: LeadershipOptions
  readonly #times: LeaseTimes
  /** As the store last said. */
  #known: Lease | null = null
  /** The lease while we have it. */
  #own: Lease | null = null
  /** The token under which a commit was refused. A claim that was answered before says otherwise. */
  #refusedToken = -1
  #term: Term | null = null
  /** When the claim was sent that was answered last (`monotonicMs`). */
  #answeredMs = Number.NEGATIVE_INFINITY
  /** Beginnings and ends of terms, one after the other. Never rejects. */
  #changing: Promise<void> = Promise.resolve()
  #asking: Promise<void> = Promise.resolve()
  #timer: Timer | null = null
  #stopped = false

  constructor(options: LeadershipOptions) {
    this.#options = options
    this.#times = options.times ?? { leaseMs: LEASE_MS, askEveryMs: ASK_EVERY_MS }
  }

  /** Who leads, as far as is known here; null for nobody. */
  get leader(): Lease | null {
    return this.#known
  }

  /** Whether we lead: the leader's part runs. */
  get leads(): boolean {
    return this.#term !== null
  }

  /** Whether we lead, and the lease has not run out: nobody else can lead now. */
  get leadsForSure(): boolean {
    const { clock } = this.#options
    const isOwn = this.#own !== null && this.#own.token === this.#term?.lease.token
    return isOwn && clock.monotonicMs() - this.#answeredMs < this.#times.leaseMs
  }

  /** Whether another leads, as far as is known here. */
  get follows(): boolean {
    return this.#known !== null && this.#known.holder !== this.#options.holder
  }

  /**
   * Asks once. If nobody leads, we do when it resolves.
   * @throws what keeps the leader's part from starting
   */
  async start(): Promise<void> {
    await this.#ask()
    // The part may take longer to start than the lease lasts.
    this.#askLater()
    try {
      await this.#follow()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Gives the lease up once the leader's part has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.clear()
    await this.#asking
    await this.#follow()
    await this.#giveUp()
  }

  #askLater(): void {
    if (this.#stopped) return
    this.#timer = this.#options.clock.setTimer(() => {
      this.#asking = this.#ask().then(() => {
        void this.#followOrGiveUp()
        this.#askLater()
      })
    }, this.#times.askEveryMs)
  }

  /** Claims the lease, and notes who has it. */
  async #ask(): Promise<void> {
    const { clock, holder, log } = this.#options
    const sentMs = clock.monotonicMs()
    const lease = await this.#claimed(sentMs)
    if (lease === null) {
      if (this.#own === null || clock.monotonicMs() - this.#answeredMs < this.#times.leaseMs) return
      this.#lost('the store does not answer')
      this.#known = null
      return
    }
    this.#answeredMs = sentMs
    const isNew = lease.token !== this.#known?.token
    this.#known = lease
    const own = lease.holder === holder && lease.token !== this.#refusedToken ? lease : null
    if (this.#own !== null && this.#own.token !== own?.token) this.#lost(`${lease.holder} has it`)
    if (own === null && isNew) log.info({ event: 'following', leader: lease.holder }, 'another control plane leads')
    this.#own = own
    if (isNew) this.#options.onLeader?.()
  }

  /** @returns null if the store failed, or did not answer in time */
  async #claimed(sentMs: number): Promise<Lease | null> {
    const { store, lease: name, holder, clock, log } = this.#options
    const { leaseMs, askEveryMs } = this.#times
    const answered = new AbortController()
    const claim = store.leases.claim({ name, holder, ttlMs: leaseMs }).catch((error: unknown) => {
      log.warn({ event: 'lease-unanswered', err: error }, 'the store did not say who leads; will ask again')
      return null
    })
    const mostMs = Math.max(askEveryMs, this.#answeredMs + leaseMs - sentMs)
    const late = pause(clock, mostMs, answered.signal).then(() => null)
    try {
      return await Promise.race([claim, late])
    } finally {
      // With a reason, since Node.js makes an exception with a stack where there is none, at every claim.
      answered.abort(null)
    }
  }

  #lost(reason: string): void {
    this.#options.log.warn({ event: 'leadership-lost', reason }, 'this control plane no longer leads')
    this.#own = null
  }

  /** Begins or ends a term: there is one while we have the lease, until `stop`. @throws what keeps the part from starting */
  #follow(): Promise<void> {
    const change = this.#changing.then(() => this.#change())
    this.#changing = change.catch(() => {})
    return change
  }

  async #change(): Promise<void> {
    const { store, lead, log } = this.#options
    if (this.#term !== null && this.#term.lease.token !== this.#wanted?.token) {
      await this.#term.stop()
      this.#term = null
      store.unfence()
    }
    const lease = this.#wanted
    if (lease === null || this.#term !== null) return
    store.fence(lease, () => this.#refused(lease))
    try {
      this.#term = { lease, stop: await lead(lease) }
    } catch (error) {
      store.unfence()
      throw error
    }
    log.info({ event: 'leading', holder: lease.holder, leaseToken: lease.token }, 'this control plane leads')
  }

  /** A commit was refused: the first news of a loss. */
  #refused({ token }: Lease): void {
    this.#refusedToken = token
    if (this.#own?.token !== token) return
    this.#lost('the store refused a write')
    void this.#followOrGiveUp()
  }

  /** Who cannot lead lets others. */
  async #followOrGiveUp(): Promise<void> {
    try {
      await this.#follow()
    } catch (error) {
      this.#options.log.error({ event: 'leading-failed', err: error }, 'this control plane cannot lead; will try again')
      await this.#giveUp()
    }
  }

  get #wanted(): Lease | null {
    return this.#stopped ? null : this.#own
  }

  async #giveUp(): Promise<void> {
    const lease = this.#own
    if (lease === null) return
    this.#own = null
    this.#known = null
    try {
      await this.#options.store.leases.release(lease)
    } catch (error) {
      this.#options.log.warn({ event: 'lease-not-released', err: error }, 'others can lead once it has run out')
    }
  }
}
