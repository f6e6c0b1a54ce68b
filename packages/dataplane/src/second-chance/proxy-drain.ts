import type { ProxyDrainReport } from '@spout/model/node-report'
import type { SecondChance as Settings } from '@spout/model/node-state'
import { type Clock, Listeners, pause, systemClock } from '@spout/runtime'
import type { Log } from '@spout/sys'

/** The proxies of a node that is drained. */
export interface DrainedProxies {
  /** Closes each client's connection after its next response. Done once for each `since`, even if another agent asks. */
  closeGracefully(since: string): Promise<void>
  /** Counts proxies that have clients. */
  busy(): Promise<number>
  /** Ends connections that are still open after `closeGracefully`. */
  closeRemaining(): Promise<void>
}

export interface ProxyDrainOptions {
  readonly proxies: DrainedProxies
  readonly log: Log
  readonly clock?: Clock
}

/** Asks whether this node still receives traffic. */
export interface OwnershipProbe {
  /** Whether the node has released the addresses that it hands over. */
  readonly hasReleased: () => Promise<boolean>
  /** Whether the node announces no address at all. */
  readonly ownsNothing: () => Promise<boolean>
}

const PROBE_EVERY_MS = 250
/** After this many probes, packets that were in flight when the address moved have arrived. */
const RELEASED_PROBES = 2
const COUNT_EVERY_MS = 1_000
/** Connections end this long before other nodes stop forwarding their packets, so that clients receive the end. */
const END_EARLY_MS = 5_000

/**
 * Drains the proxies of a node that released its addresses. The proxies ask their clients to reconnect, which leads them
 * to another node. Connections that are still open at the deadline are ended.
 */
export class ProxyDrain {
  readonly #given: ProxyDrainOptions
  readonly #clock: Clock
  readonly #listeners = new Listeners<ProxyDrainReport | null>()
  #report: ProxyDrainReport | null = null
  #waiting: AbortController | null = null
  #ending: AbortController | null = null
  #work: Promise<unknown> = Promise.resolve()

  constructor(given: ProxyDrainOptions) {
    this.#given = given
    this.#clock = given.clock ?? systemClock
  }

  /** Progress of the drain; null while there is none. */
  get report(): ProxyDrainReport | null {
    return this.#report
  }

  /** @returns a function that ends it */
  onChange(listener: (report: ProxyDrainReport | null) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Starts a drain at a new `leavingSince`; null stops it. Returns at once. */
  configure(settings: Settings | null, { hasReleased, ownsNothing }: OwnershipProbe): void {
    const since = settings?.leavingSince ?? null
    if (since === (this.#report?.since ?? null)) return
    this.#waiting?.abort()
    this.#waiting = null
    this.#tell(since === null ? null : { since, busyProxies: null })
    if (settings === null || since === null) return
    this.#waiting = new AbortController()
    this.#ending?.abort()
    this.#ending = new AbortController()
    const ms = 1000 * settings.seconds
    const endsAtMs = this.#clock.monotonicMs() + Math.max(ms - END_EARLY_MS, ms / 2)
    this.#begin(this.#drain(since, hasReleased, this.#waiting.signal))
    this.#begin(this.#end(endsAtMs, ownsNothing, this.#ending.signal))
  }

  /** Stops waiting. Connections stay open for the next agent. */
  async close(): Promise<void> {
    this.#waiting?.abort()
    this.#ending?.abort()
    await this.#work
  }

  #begin(work: Promise<void>): void {
    const safe = work.catch((error: unknown) => {
      this.#given.log.warn({ error: String(error) }, 'the proxies were not drained')
    })
    this.#work = Promise.all([this.#work, safe])
  }

  async #drain(since: string, hasReleased: OwnershipProbe['hasReleased'], signal: AbortSignal): Promise<void> {
    for (let probes = 0; probes < RELEASED_PROBES; ) {
      await pause(this.#clock, PROBE_EVERY_MS, signal)
      if (signal.aborted) return
      probes = (await hasReleased()) ? probes + 1 : 0
    }
    await this.#given.proxies.closeGracefully(since)
    for (;;) {
      const busyProxies = await this.#given.proxies.busy()
      if (signal.aborted) return
      if (busyProxies !== this.#report?.busyProxies) this.#tell({ since, busyProxies })
      if (busyProxies === 0) return
      await pause(this.#clock, COUNT_EVERY_MS, signal)
    }
  }

  async #end(endsAtMs: number, ownsNothing: OwnershipProbe['ownsNothing'], signal: AbortSignal): Promise<void> {
    await pause(this.#clock, endsAtMs - this.#clock.monotonicMs(), signal)
    // A node that owns an address again serves those connections itself.
    if (!signal.aborted && (await ownsNothing())) await this.#given.proxies.closeRemaining()
  }

  #tell(report: ProxyDrainReport | null): void {
    this.#report = report
    this.#listeners.tell(report)
  }
}
