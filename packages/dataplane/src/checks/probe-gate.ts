import type { Clock, Timer } from '@spout/runtime'

export interface ProbeLimits {
  /** Probes under way of all owners, beside those that each may always have. */
  readonly most: number
  /** Of one owner. */
  readonly mostOfOwner: number
  /** What each owner may have whatever others do. */
  readonly ownShare: number
  /** Probes that begin in a second, of one owner. */
  readonly perSecond: number
  /** To one address and port, by whatever pools and monitors. */
  readonly perSecondOfTarget: number
}

/** Enough for some 10,000 members of one tenant that are asked every five seconds, and answer. */
export const PROBE_LIMITS: ProbeLimits = {
  most: 512,
  mostOfOwner: 256,
  ownShare: 32,
  perSecond: 2000,
  perSecondOfTarget: 50,
}

/** Whose probe it is, and of what. */
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

/** So many targets' rates are remembered. */
const MOST_TARGETS = 20_000
const LOOK_EVERY_MS = 20
const MOST_LOOKED_AT = 256

/**
 * Lets probes begin. Each owner has places of its own, so that the members of one that never answer hold up nobody else's;
 * the common ones are dealt in turns to the owners that wait. How often an owner's probes begin is bounded, and how often
 * one endpoint is asked: beyond that intervals grow.
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

  /** @returns whether a place was given; false when the signal aborted first */
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

  /** Who came first, of those whose endpoint may be asked; it is looked for among a bounded number. */
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

  /** Gives what is free to those that wait: one for each owner, again and again. */
  #deal(): void {
    for (let dealt = true; dealt; ) {
      dealt = false
      for (const [owner, share] of [...this.#shares]) {
        const next = this.#hasTurn(share) ? this.#nextOf(share) : undefined
        if (next === undefined) continue
        share.waiting.delete(next)
        this.#begin(share, next)
        // Whoever was served is the last of the next round.
        this.#shares.delete(owner)
        this.#shares.set(owner, share)
        dealt = true
        next.enter()
      }
    }
    this.#lookAgain()
  }

  /** A rate that is used up comes back with time alone. */
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

/** What the probe says, or null as soon as the signal aborts: its place is free then, whatever it still does. */
function untilAborted<T>(probe: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    probe.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
