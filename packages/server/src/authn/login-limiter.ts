import { SpoutError } from '@spout/model'
import type { Clock } from '@spout/runtime'
import { LOCAL_ADDRESS, sourceOf } from './login-source.ts'
import { Pace } from './pace.ts'

const WINDOW_MS = 60_000
/** Failures of one user at one source. After these even the right password is refused. */
const MAX_FAILURES = 10
/** Limits trying many names from one source. */
const MAX_FAILURES_OF_SOURCE = 100
/** Limits trying one name from many sources. */
const MAX_FAILURES_OF_USER = 50
const MAX_KEYS = 10_000
/** The rate of guesses once too many failed: 120 a minute. */
const PACE_MS = 500
const MAX_WAITING = 32
const MAX_WAITING_EACH = 2
const MAX_KNOWN_PLACES = 20_000

/**
 * Limits guessing of passwords without a way to lock others out. Failures are counted by user and source, where ten
 * refuse further logins. They are also counted by source over all users and by user over all sources, where too many
 * only slow logins down. A user is not slowed at a source that the user logged in from recently, and a caller on the
 * machine itself is never limited.
 *
 * Memory is bounded: the least recently used entry is dropped.
 */
export class LoginLimiter {
  readonly #clock: Clock
  readonly #failures: FailureCounts
  readonly #failuresOfSource: FailureCounts
  readonly #failuresOfUser: FailureCounts
  readonly #known = new Map<string, true>()
  readonly #paces = new Map<string, Pace>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#failures = new FailureCounts(clock)
    this.#failuresOfSource = new FailureCounts(clock)
    this.#failuresOfUser = new FailureCounts(clock)
  }

  /** Resolves when it is the login's turn. @throws SpoutError Unauthenticated, Unavailable when too many wait */
  async turn(user: string, address: string): Promise<void> {
    this.check(user, address)
    const source = sourceOf(address)
    if (address === LOCAL_ADDRESS || this.#known.has(pairOf(user, source))) return
    if (this.#failuresOfSource.of(source) >= MAX_FAILURES_OF_SOURCE) await this.#pace(`source ${source}`).turn(user)
    if (this.#failuresOfUser.of(user) >= MAX_FAILURES_OF_USER) await this.#pace(`user ${user}`).turn(source)
  }

  /**
   * Call it right before checking a secret too: failures may have been counted while this one waited. @throws
   * SpoutError Unauthenticated
   */
  check(user: string, address: string): void {
    if (address === LOCAL_ADDRESS) return
    if (this.#failures.of(pairOf(user, sourceOf(address))) >= MAX_FAILURES)
      throw new SpoutError('Unauthenticated', { reason: 'too many failed logins, wait a minute' })
  }

  failed(user: string, address: string): void {
    if (address === LOCAL_ADDRESS) return
    const source = sourceOf(address)
    this.#failures.add(pairOf(user, source))
    this.#failuresOfSource.add(source)
    this.#failuresOfUser.add(user)
  }

  succeeded(user: string, address: string): void {
    const pair = pairOf(user, sourceOf(address))
    this.#failures.forget(pair)
    this.#known.delete(pair)
    this.#known.set(pair, true)
    dropOldest(this.#known, MAX_KNOWN_PLACES)
  }

  #pace(key: string): Pace {
    const known = this.#paces.get(key)
    if (known !== undefined) return known
    const options = {
      clock: this.#clock,
      intervalMs: PACE_MS,
      maxWaiting: MAX_WAITING,
      maxWaitingEach: MAX_WAITING_EACH,
    }
    const pace = new Pace(options, () => this.#paces.delete(key))
    this.#paces.set(key, pace)
    return pace
  }
}

interface Failures {
  readonly count: number
  readonly untilMs: number
}

/** Failures by key. Each failure keeps the count for another minute. */
class FailureCounts {
  readonly #clock: Clock
  readonly #counts = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(key: string): number {
    const found = this.#counts.get(key)
    return found === undefined || found.untilMs <= this.#clock.monotonicMs() ? 0 : found.count
  }

  add(key: string): void {
    const count = this.of(key) + 1
    this.#counts.delete(key)
    this.#counts.set(key, { count, untilMs: this.#clock.monotonicMs() + WINDOW_MS })
    dropOldest(this.#counts, MAX_KEYS)
  }

  forget(key: string): void {
    this.#counts.delete(key)
  }
}

const dropOldest = (map: Map<string, unknown>, most: number): void => {
  for (const oldest of map.keys()) {
    if (map.size <= most) break
    map.delete(oldest)
  }
}

// A source has no space in it, so no user name can make two pairs alike.
const pairOf = (user: string, source: string): string => `${source} ${user}`
