import { SpoutError } from '@spout/model'
import type { Clock, Timer } from '@spout/runtime'
import { Refusals } from './refusals.ts'

export interface ShareLimits {
  /** Units per second that a share regains. A request costs one, and more for its bytes. */
  readonly perSecond: number
  /** The most units that a share can save. */
  readonly burst: number
}

export interface RequestSharesOptions extends ShareLimits {
  readonly clock: Clock
  /**
   * Limit of requests of one share that wait for their turn. One more is refused, after `longestWaitMs`. Default 256.
   */
  readonly mostWaiting?: number
  /**
   * How long a request waits before it is refused. Default 1 s: a client that asks in a loop is slowed instead of
   * refused at once.
   */
  readonly longestWaitMs?: number
  /** Requests that start in one round of the event loop, over all shares. Default: one of each share. */
  readonly mostOfRound?: number
  /** Limit of requests that are to be refused, over all shares. One more is refused at once. Default 10,000. */
  readonly mostRefusals?: number
  /** How many shares are remembered. Default 10,000. */
  readonly mostShares?: number
}

interface Waiting {
  readonly sinceMs: number
  readonly go: () => void
  readonly refuse: (error: SpoutError) => void
}

interface Share {
  units: number
  refilledAtMs: number
  readonly perSecond: number
  readonly burst: number
  readonly waiting: Waiting[]
}

/** How often shares without units are checked. */
const LOOK_EVERY_MS = 10
/** A share that started a request this recently counts as active. */
const ASKS_FOR_MS = 100
const LONGEST_WAIT_MS = 1000

interface Began {
  readonly who: string | null
  readonly atMs: number
}
const NEVER: Began = { who: null, atMs: Number.NEGATIVE_INFINITY }

/**
 * Schedules requests by share, within a budget for each. In one round of the event loop each share starts at most one
 * request, and all together a few; the share with most units left starts first. So a request waits for one request of a
 * busy neighbour, or for a few of very many neighbours, not for everything they have under way. A share without units
 * waits until it regains some, and is refused if that takes long.
 */
export class RequestShares {
  readonly #options: RequestSharesOptions
  readonly #shares = new Map<string, Share>()
  /** Shares that had their turn in this round. */
  readonly #served = new Set<string>()
  /** Shares with waiting requests. */
  readonly #busy = new Set<string>()
  /** The share that started last, and the last other one before it. */
  #latest = NEVER
  #latestOther = NEVER
  #round: NodeJS.Immediate | null = null
  #look: Timer | null = null
  readonly #refusals: Refusals

  constructor(options: RequestSharesOptions) {
    this.#options = options
    this.#refusals = new Refusals(options.clock)
  }

  /** How many requests wait now, over all shares. */
  get waiting(): number {
    let count = 0
    for (const who of this.#busy) count += this.#shares.get(who)?.waiting.length ?? 0
    return count
  }

  /**
   * As `turn`, for a request that need not wait. Most need not, and a promise for each would cost more than the rest.
   * @returns false, having done nothing, for one that must
   */
  startsNow(who: string, limits: ShareLimits = this.#options): boolean {
    const share = this.#shareOf(who, limits)
    const waits = share.waiting.length > 0 || share.units <= 0 || this.#served.has(who) || this.#roomInRound <= 0
    if (!waits) this.#serve(who, share)
    return !waits
  }

  /**
   * Resolves when the request may start.
   * @param limits of this share, if they are not the default
   * @throws SpoutError TooManyRequests
   */
  turn(who: string, limits: ShareLimits = this.#options): Promise<void> {
    if (this.startsNow(who, limits)) return Promise.resolve()
    const share = this.#shareOf(who, limits)
    if (share.waiting.length >= (this.#options.mostWaiting ?? 256)) return this.refuse(() => tooMany(share))
    return new Promise((go, refuse) => {
      share.waiting.push({ sinceMs: this.#nowMs(), go, refuse })
      this.#busy.add(who)
      this.#nextRound()
    })
  }

  /** Whether another share started a request within the last 100 ms. */
  othersAsk(who: string): boolean {
    const { atMs } = this.#latest.who === who ? this.#latestOther : this.#latest
    return this.#nowMs() - atMs < ASKS_FOR_MS
  }

  /** Charges what a request cost beyond its turn. A share's debt is limited by its burst. */
  charge(who: string, units: number): void {
    const share = this.#shares.get(who)
    if (share !== undefined) share.units = Math.max(-share.burst, share.units - units)
  }

  close(): void {
    for (const refuse of this.#refusals.close()) refuse()
    if (this.#round !== null) clearImmediate(this.#round)
    this.#look?.clear()
    for (const share of this.#shares.values())
      for (const { refuse } of share.waiting.splice(0))
        refuse(new SpoutError('Unavailable', { what: 'The server', reason: 'it is closing' }))
  }

  /**
   * Rejects with an error after `longestWaitMs`, one per round of the event loop. So a client that ignores refusals
   * cannot ask again at once.
   * @param why called when it is due
   */
  refuse(why: () => SpoutError): Promise<never> {
    const { mostRefusals = 10_000, longestWaitMs = LONGEST_WAIT_MS } = this.#options
    if (this.#refusals.size >= mostRefusals) return Promise.reject(why())
    return new Promise((_, refuse) => this.#refusals.add(() => refuse(why()), longestWaitMs))
  }

  get #roomInRound(): number {
    return (this.#options.mostOfRound ?? Number.POSITIVE_INFINITY) - this.#served.size
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #shareOf(who: string, { perSecond, burst }: ShareLimits): Share {
    const nowMs = this.#nowMs()
    const known = this.#shares.get(who)
    if (known !== undefined) {
      const grown = known.units + ((nowMs - known.refilledAtMs) / 1000) * known.perSecond
      known.units = Math.min(known.burst, grown)
      known.refilledAtMs = nowMs
      return known
    }
    const share: Share = { units: burst, refilledAtMs: nowMs, perSecond, burst, waiting: [] }
    this.#shares.set(who, share)
    this.#forgetIdle()
    return share
  }

  /** Drops the least recently used shares. Shares with waiting requests stay. */
  #forgetIdle(): void {
    const most = this.#options.mostShares ?? 10_000
    for (const [who, share] of this.#shares) {
      if (this.#shares.size <= most) return
      if (share.waiting.length === 0) this.#shares.delete(who)
    }
  }

  #serve(who: string, share: Share): void {
    share.units -= 1
    if (this.#latest.who !== who) this.#latestOther = this.#latest
    this.#latest = { who, atMs: this.#nowMs() }
    this.#served.add(who)
    this.#nextRound()
  }

  #refuse(share: Share): void {
    const refuse = share.waiting.shift()?.refuse
    if (refuse !== undefined) this.#refusals.add(() => refuse(tooMany(share)))
  }

  #nextRound(): void {
    this.#round ??= setImmediate(() => {
      this.#round = null
      this.#served.clear()
      this.#serveWaiting()
    })
  }

  /** Up to `most` of the waiting shares that may start: those with most units left. */
  #fullest(most: number): readonly (readonly [string, Share])[] {
    const ready: [string, Share][] = []
    for (const who of this.#busy) {
      const share = this.#shares.get(who)
      if (share === undefined || this.#served.has(who)) continue
      this.#shareOf(who, share)
      if (share.units > 0) ready.push([who, share])
    }
    return ready.length <= most ? ready : ready.sort(([, one], [, other]) => other.units - one.units).slice(0, most)
  }

  #serveWaiting(): void {
    const { longestWaitMs = LONGEST_WAIT_MS, clock } = this.#options
    const nowMs = this.#nowMs()
    const served = this.#fullest(this.#roomInRound)
    for (const [who, share] of served) {
      const next = share.waiting.shift()
      this.#serve(who, share)
      next?.go()
    }
    for (const who of [...this.#busy]) {
      const share = this.#shares.get(who)
      // A request whose share has units waits for its turn, however long the server is busy.
      while (share !== undefined && share.units <= 0 && (share.waiting[0]?.sinceMs ?? nowMs) + longestWaitMs <= nowMs)
        this.#refuse(share)
      if (share === undefined || share.waiting.length === 0) this.#busy.delete(who)
    }
    if (served.length > 0 || this.#busy.size === 0 || this.#look !== null) return
    this.#look = clock.setTimer(() => {
      this.#look = null
      this.#serveWaiting()
    }, LOOK_EVERY_MS)
  }
}

function tooMany({ units, perSecond }: Share): SpoutError {
  const seconds = Math.max(1, Math.ceil((1 - units) / perSecond))
  return new SpoutError('TooManyRequests', { reason: 'the share of this project or client is used up', seconds })
}
