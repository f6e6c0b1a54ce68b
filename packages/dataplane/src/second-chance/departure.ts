import type { DepartureReport } from '@spout/model/node-report'
import type { SecondChance as Settings } from '@spout/model/node-state'
import { type Clock, pause, systemClock } from '@spout/runtime'
import type { Log } from '@spout/sys'

/** What a node that is drained asks of its proxies. */
export interface LeavingProxies {
  /** Each closes a client's connection behind its next answer. Done once for each `since`, whatever agent asks. */
  seeOff(since: string): Promise<void>
  /** How many of them have clients. */
  busy(): Promise<number>
  /** Ends what was seen off and is still there. */
  endLeft(): Promise<void>
}

export interface DepartureOptions {
  readonly proxies: LeavingProxies
  readonly log: Log
  readonly clock?: Clock
}

/** Tells whether traffic has left this node. */
export interface Whereabouts {
  /** Whether it has given up what it was to give up. */
  readonly gaveUp: () => Promise<boolean>
  /** Whether it announces no address at all. */
  readonly answersForNothing: () => Promise<boolean>
}

type Listener = (report: DepartureReport | null) => void

const LOOK_EVERY_MS = 250
/** Packets that were under way when the address went have come by then. */
const QUIET_LOOKS = 2
const COUNT_EVERY_MS = 1_000
/** Connections are ended so long before nobody carries their packets any more: a client hears of it. */
const LAST_WORD_MS = 5_000

/**
 * The other half of a second chance: the node that gave addresses up. Clients of its proxies are asked to come again, which
 * brings them to another node; what does not end by itself is ended when its time is up.
 */
export class Departure {
  readonly #given: DepartureOptions
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  #report: DepartureReport | null = null
  #waiting: AbortController | null = null
  #ending: AbortController | null = null
  #work: Promise<unknown> = Promise.resolve()

  constructor(given: DepartureOptions) {
    this.#given = given
    this.#clock = given.clock ?? systemClock
  }

  /** How far it is; null while the node gives nothing up. */
  get report(): DepartureReport | null {
    return this.#report
  }

  /** @returns a function that ends it */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The node gives addresses up since `leavingSince`, or does not. Returns at once.
   */
  configure(settings: Settings | null, { gaveUp, answersForNothing }: Whereabouts): void {
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
    const endsAtMs = this.#clock.monotonicMs() + Math.max(ms - LAST_WORD_MS, ms / 2)
    this.#begin(this.#seeOff(since, gaveUp, this.#waiting.signal))
    this.#begin(this.#end(endsAtMs, answersForNothing, this.#ending.signal))
  }

  /** What goes on without an agent goes on. */
  async close(): Promise<void> {
    this.#waiting?.abort()
    this.#ending?.abort()
    await this.#work
  }

  #begin(work: Promise<void>): void {
    const safe = work.catch((error: unknown) => {
      this.#given.log.warn({ error: String(error) }, 'clients of the proxies are not seen off as they should be')
    })
    this.#work = Promise.all([this.#work, safe])
  }

  async #seeOff(since: string, gaveUp: Whereabouts['gaveUp'], signal: AbortSignal): Promise<void> {
    for (let quiet = 0; quiet < QUIET_LOOKS; ) {
      await pause(this.#clock, LOOK_EVERY_MS, signal)
      if (signal.aborted) return
      quiet = (await gaveUp()) ? quiet + 1 : 0
    }
    await this.#given.proxies.seeOff(since)
    for (;;) {
      const busyProxies = await this.#given.proxies.busy()
      if (signal.aborted) return
      if (busyProxies !== this.#report?.busyProxies) this.#tell({ since, busyProxies })
      if (busyProxies === 0) return
      await pause(this.#clock, COUNT_EVERY_MS, signal)
    }
  }

  async #end(
    endsAtMs: number,
    answersForNothing: Whereabouts['answersForNothing'],
    signal: AbortSignal,
  ): Promise<void> {
    await pause(this.#clock, endsAtMs - this.#clock.monotonicMs(), signal)
    // A node that has an address again carries those connections itself.
    if (!signal.aborted && (await answersForNothing())) await this.#given.proxies.endLeft()
  }

  #tell(report: DepartureReport | null): void {
    this.#report = report
    for (const listener of [...this.#listeners]) listener(report)
  }
}
