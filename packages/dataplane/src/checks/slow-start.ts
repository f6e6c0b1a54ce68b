import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { Clock, Timer } from '@spout/runtime'
import type { Shares } from '../contracts/driver.ts'

const NO_SHARES: Shares = new Map()
/** Steps of a slow start. Each step changes the packet path. */
const STEPS = 10
const FIRST_PERCENT = 10

const stepAt = (elapsedMs: number, slowStartMs: number): number =>
  Math.min(STEPS, Math.max(0, Math.floor((STEPS * elapsedMs) / slowStartMs)))

/** The share after a part of the slow start: 10 % at once, then nine points more for each tenth of the time. */
export const shareAt = (elapsedMs: number, slowStartMs: number): number =>
  FIRST_PERCENT + ((100 - FIRST_PERCENT) * stepAt(elapsedMs, slowStartMs)) / STEPS

const stepOf = (share: number): number =>
  Math.min(STEPS, Math.max(0, Math.round(((share - FIRST_PERCENT) * STEPS) / (100 - FIRST_PERCENT))))

interface Rising {
  /** Duration of the slow start of members that have one, in ms, by member id. */
  readonly slowStart: ReadonlyMap<string, number>
  /** Pools that existed, and members that were up, at the last call. */
  readonly pools: ReadonlySet<string>
  readonly up: ReadonlySet<string>
  /** When members began their slow start, monotonic ms. */
  readonly began: ReadonlyMap<string, number>
  readonly told: Shares
}

/**
 * Slow start of members of the packet path. A member that is new, or was down, begins with a tenth of its share.
 * (HAProxy does this itself: `slowstart`.) Entries without a slow start cost nothing.
 */
export class SlowStarts {
  readonly #clock: Clock
  readonly #onStep: (keys: readonly string[]) => void
  /** Entries with a slow start. */
  readonly #known = new Map<string, Rising>()
  /** Entries with a member in slow start now. */
  readonly #rising = new Set<string>()
  #timer: Timer | null = null
  #timerAtMs = Number.POSITIVE_INFINITY

  /** @param onStep members of these entries have a larger share now */
  constructor({ clock, onStep }: { readonly clock: Clock; readonly onStep: (keys: readonly string[]) => void }) {
    this.#clock = clock
    this.#onStep = onStep
  }

  /** Restores the state that an earlier process had applied. Members without a share had finished their slow start. */
  restore(entry: LoadBalancerEntry, down: ReadonlySet<string>, shares: Shares): void {
    const slowStart = slowStartOf(entry)
    if (slowStart.size === 0) return
    const now = this.#clock.monotonicMs()
    const began = new Map<string, number>()
    for (const [id, share] of shares) {
      const lasts = slowStart.get(id)
      if (lasts !== undefined) began.set(id, now - (stepOf(share) * lasts) / STEPS)
    }
    this.#set(entry.key, { slowStart, pools: poolsOf(entry), up: upOf(entry, down), began, told: shares })
  }

  /**
   * The shares of an entry's members, given those that are down. Returns the same object while nothing changes. Members
   * that were absent or down at the last call begin a slow start; the first members of a pool have their full share.
   * @param applied the entry as this node last had it: when a pool gets a slow start, it does not apply to existing
   * members
   */
  shares(entry: LoadBalancerEntry, down: ReadonlySet<string>, applied?: LoadBalancerEntry): Shares {
    const slowStart = slowStartOf(entry)
    if (slowStart.size === 0) {
      this.forget(entry.key)
      return NO_SHARES
    }
    const before = this.#known.get(entry.key)
    const up = upOf(entry, down)
    const wasThere = before?.pools ?? (applied === undefined ? NOBODY : poolsOf(applied))
    const wasUp = new Set([
      ...(before?.up ?? (applied === undefined ? NOBODY : upOf(applied, NOBODY))),
      ...upOf({ pools: entry.pools.filter(({ id }) => !wasThere.has(id)) }, NOBODY),
    ])
    const began = new Map<string, number>()
    const now = this.#clock.monotonicMs()
    for (const [id, lasts] of slowStart) {
      if (!up.has(id)) continue
      const start = wasUp.has(id) ? before?.began.get(id) : now
      if (start !== undefined && now - start < lasts) began.set(id, start)
    }
    const shares = new Map([...began].map(([id, start]) => [id, shareAt(now - start, slowStart.get(id)!)]))
    const told = sameShares(before?.told ?? NO_SHARES, shares) ? (before?.told ?? NO_SHARES) : shares
    this.#set(entry.key, { slowStart, pools: poolsOf(entry), up, began, told })
    return told
  }

  forget(key: string): void {
    this.#known.delete(key)
    this.#rising.delete(key)
  }

  close(): void {
    this.#timer?.clear()
    this.#known.clear()
    this.#rising.clear()
  }

  #set(key: string, rising: Rising): void {
    this.#known.set(key, rising)
    if (rising.began.size === 0) this.#rising.delete(key)
    else {
      this.#rising.add(key)
      this.#wakeIn(nextStepMs(rising, this.#clock.monotonicMs()))
    }
  }

  #wakeIn(delayMs: number): void {
    const atMs = this.#clock.monotonicMs() + delayMs
    if (atMs >= this.#timerAtMs) return
    this.#timer?.clear()
    this.#timerAtMs = atMs
    this.#timer = this.#clock.setTimer(() => this.#step(), delayMs)
  }

  #step(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY
    const now = this.#clock.monotonicMs()
    const due = [...this.#rising].filter((key) => isDue(this.#known.get(key)!, now))
    if (due.length > 0) this.#onStep(due)
    for (const key of this.#rising) this.#wakeIn(nextStepMs(this.#known.get(key)!, now))
  }
}

const NOBODY: ReadonlySet<string> = new Set()

/** Members of the packet path's pools that have a slow start. */
const slowStartOf = ({ pools }: LoadBalancerEntry): ReadonlyMap<string, number> =>
  new Map(
    pools.flatMap(({ mode, slowStartMs, members }) =>
      mode !== 'l4' || !slowStartMs
        ? []
        : members.flatMap((member) => (member === null ? [] : [[member.id, slowStartMs] as const])),
    ),
  )

const poolsOf = ({ pools }: LoadBalancerEntry): ReadonlySet<string> => new Set(pools.map(({ id }) => id))

const upOf = ({ pools }: Pick<LoadBalancerEntry, 'pools'>, down: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(
    pools.flatMap(({ members }) =>
      members.flatMap((member) => (member === null || member.weight === 0 || down.has(member.id) ? [] : [member.id])),
    ),
  )

const shareNow = (elapsedMs: number, lasts: number): number => (elapsedMs >= lasts ? 100 : shareAt(elapsedMs, lasts))

const isDue = ({ began, slowStart, told }: Rising, now: number): boolean =>
  [...began].some(([id, start]) => shareNow(now - start, slowStart.get(id)!) !== (told.get(id) ?? 100))

/**
 * A step is reported again after this time if nobody has called `shares` since, because the entry could not be applied.
 */
const AGAIN_MS = 1_000

const nextStepMs = ({ began, slowStart }: Rising, now: number): number =>
  [...began].reduce((next, [id, start]) => {
    const lasts = slowStart.get(id)!
    const elapsed = now - start
    if (elapsed >= lasts) return Math.min(next, AGAIN_MS)
    return Math.min(next, Math.max(1, ((stepAt(elapsed, lasts) + 1) * lasts) / STEPS - elapsed))
  }, Number.POSITIVE_INFINITY)

const sameShares = (a: Shares, b: Shares): boolean =>
  a.size === b.size && [...a].every(([id, share]) => b.get(id) === share)
