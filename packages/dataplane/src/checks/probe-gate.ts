import type { Clock, Timer } from '@spout/runtime'

export interface ProbeLimits {
  /** Concurrent probes of all owners, besides each owner's own share. */
  readonly most: number
  /** Concurrent probes of one owner. */
  readonly mostOfOwner: number
  /** Concurrent probes that each owner has, whatever the others do. */
  readonly ownShare: number
  /** Probes per second of one owner. */
  readonly perSecond: number
  /** Probes per second to one address and port, by all pools and monitors. */
  readonly perSecondOfTarget: number
}

/** Enough for about 10,000 members of one tenant that are probed every five seconds, and answer. */
export const PROBE_LIMITS: ProbeLimits = {
  most: 512,
  mostOfOwner: 256,
  ownShare: 32,
  perSecond: 2000,
  perSecondOfTarget: 50,
}

/** The owner and the target of a probe. */
export interface ProbeOwner {
  /** The project, or its network where the project is not known. */
  readonly owner: string | number
  readonly target: string
}

interface Waiting extends ProbeOwner {
  readonly enter: () => void
}

interface Bucket {
  units: number
  filledAtMs: number
}

interface Share {
  running: number
  readonly waiting: Set<Waiting>
  readonly begun: Bucket
}

/** Maximum of targets whose rates are remembered. */
const MOST_TARGETS = 20_000
const LOOK_EVERY_MS = 20
const MOST_LOOKED_AT = 256

/**
 * Limits concurrent probes and their rates. Each owner has places of its own, so members of one owner that never answer
 * do not delay the others. Owners that wait get the common places in turn. Rates are limited by owner and by endpoint;
 * beyond them intervals get longer.
 */
export class ProbeGate {
  readonly #limits: ProbeLimits
  readonly #clock: Clock
  /** Owners in the order of their turns. */
  readonly #shares = new Map<string | number, Share>()
  readonly #targets = new Map<string, Bucket>()
  #running = 0
  #delayed = 0
  #look: Timer | null = null

  constructor(clock: Clock, limits: ProbeLimits = PROBE_LIMITS) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Probes that had to wait since the start. */
  get delayed(): number {
    return this.#delayed
  }

  /** Runs `probe` once there is room. Resolves with null when `signal` aborts first. */
  async pass<T>(of: ProbeOwner, probe: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    const share = this.#shareOf(of.owner)
    if (share.waiting.size > 0 || !this.#mayBegin(share, of)) {
      this.#delayed++
      if (!(await this.#turn(share, of, signal))) return null
    } else this.#begin(share, of)
    try {
      return await untilAborted(probe(), signal)
    } finally {
      this.#end(of.owner, share)
    }
  }

  close(): void {
    this.#look?.clear()
  }

  /** @returns whether the probe may start; false if the signal aborted first */
  #turn(share: Share, of: ProbeOwner, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const waiting: Waiting = {
        ...of,
        enter: () => {
          signal.removeEventListener('abort', giveUp)
          resolve(true)
        },
      }
      const giveUp = () => {
        share.waiting.delete(waiting)
        this.#forgetIdle(of.owner, share)
        resolve(false)
      }
      share.waiting.add(waiting)
      signal.addEventListener('abort', giveUp, { once: true })
      this.#lookAgain()
    })
  }

  #mayBegin(share: Share, of: ProbeOwner): boolean {
    return this.#hasTurn(share) && this.#mayAsk(of)
  }

  #hasTurn(share: Share): boolean {
    const { most, mostOfOwner, ownShare, perSecond } = this.#limits
    const hasPlace = share.running < ownShare || (share.running < mostOfOwner && this.#running < most)
    return hasPlace && this.#has(share.begun, perSecond)
  }

  #mayAsk({ target }: ProbeOwner): boolean {
    return this.#has(this.#bucketOf(target), this.#limits.perSecondOfTarget)
  }

  /** The first waiting probe whose endpoint may be probed, among a bounded number. */
  #nextOf({ waiting }: Share): Waiting | undefined {
    let looked = 0
    for (const each of waiting) {
      if (this.#mayAsk(each)) return each
      if (++looked === MOST_LOOKED_AT) return undefined
    }
    return undefined
  }

  #begin(share: Share, { target }: ProbeOwner): void {
    share.running++
    this.#running++
    share.begun.units--
    this.#bucketOf(target).units--
  }

  #end(owner: string | number, share: Share): void {
    share.running--
    this.#running--
    this.#deal()
    this.#forgetIdle(owner, share)
  }

  /** Gives free places to waiting owners, one each, in rounds. */
  #deal(): void {
    for (let dealt = true; dealt; ) {
      dealt = false
      for (const [owner, share] of [...this.#shares]) {
        const next = this.#hasTurn(share) ? this.#nextOf(share) : undefined
        if (next === undefined) continue
        share.waiting.delete(next)
        this.#begin(share, next)
        // The owner that was served moves to the end.
        this.#shares.delete(owner)
        this.#shares.set(owner, share)
        dealt = true
        next.enter()
      }
    }
    this.#lookAgain()
  }

  /** Schedules the next `#deal`, since a used-up rate recovers with time alone. */
  #lookAgain(): void {
    if (this.#look !== null) return
    let waits = false
    for (const { waiting } of this.#shares.values()) waits ||= waiting.size > 0
    if (!waits) return
    this.#look = this.#clock.setTimer(() => {
      this.#look = null
      this.#deal()
    }, LOOK_EVERY_MS)
  }

  #has(bucket: Bucket, perSecond: number): boolean {
    const nowMs = this.#clock.monotonicMs()
    bucket.units = Math.min(perSecond, bucket.units + ((nowMs - bucket.filledAtMs) / 1000) * perSecond)
    bucket.filledAtMs = nowMs
    return bucket.units >= 1
  }

  #shareOf(owner: string | number): Share {
    const known = this.#shares.get(owner)
    if (known !== undefined) return known
    const share: Share = { running: 0, waiting: new Set(), begun: this.#fullBucket(this.#limits.perSecond) }
    this.#shares.set(owner, share)
    return share
  }

  #forgetIdle(owner: string | number, share: Share): void {
    const idle = share.running === 0 && share.waiting.size === 0
    if (idle && this.#has(share.begun, this.#limits.perSecond) && share.begun.units >= this.#limits.perSecond)
      this.#shares.delete(owner)
  }

  #bucketOf(target: string): Bucket {
    const known = this.#targets.get(target)
    if (known !== undefined) return known
    const bucket = this.#fullBucket(this.#limits.perSecondOfTarget)
    this.#targets.set(target, bucket)
    const [oldest] = this.#targets.keys()
    if (this.#targets.size > MOST_TARGETS && oldest !== undefined) this.#targets.delete(oldest)
    return bucket
  }

  #fullBucket(perSecond: number): Bucket {
    return { units: perSecond, filledAtMs: this.#clock.monotonicMs() }
  }
}

/**
 * The result of the probe, or null as soon as the signal aborts. Its place is free then, whatever the probe still does.
 */
function untilAborted<T>(probe: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    probe.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
