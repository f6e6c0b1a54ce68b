import { type Clock, Listeners, pause, type Timer } from '@spout/runtime'
import { type AddressClaim, HelperError, type Log, type NativeHelper } from '@spout/sys'

/** An address of this node that another host on the segment claims. */
export interface AddressConflict {
  readonly address: string
  /** The MAC address of the last claimant. */
  readonly mac: string
  /** RFC 3339; the first claim without a pause of more than a minute since. */
  readonly since: string
}

export interface AddressDefenceOptions {
  readonly helper: NativeHelper
  readonly log: Log
  readonly clock: Clock
}

interface Place {
  readonly netns?: string
  readonly dev: string
}

interface Seen {
  readonly conflict: AddressConflict
  readonly lastMs: number
}

interface Held {
  readonly place: Place
  /** The time when each address was taken over from another node; null if it was not. */
  readonly addresses: Map<string, number | null>
}

/** A claim that continues is reported every 10 s. */
const OVER_AFTER_MS = 60_000
/** For this long after a takeover the previous owner may not know of it, and defends the address too. */
const SETTLED_AFTER_MS = 3_000
const LOOK_EVERY_MS = 1_000
/** Nothing waits for this answer. On a busy machine one takes longer than the 45 ms that duplicate detection gives it. */
const PROBE_MS = 500

/**
 * Defends addresses of this node that another host on the segment claims. Each claim is answered by one announcement,
 * at most once in 10 s per address (RFC 5227 section 2.4 (c): a host that never gives up). The helper answers within a
 * millisecond; this class tells it what to defend and records the claims. Right after a takeover a claim counts only if
 * another host still answers for the address later, since the previous owner defends it once more when it hears the new
 * owner first.
 */
export class AddressDefence {
  readonly #options: AddressDefenceOptions
  readonly #held = new Map<string, Held>()
  readonly #seen = new Map<string, Seen>()
  /** Claims right after a takeover that are being verified, by place and address. */
  readonly #rechecks = new Map<string, AbortController>()
  readonly #listeners = new Listeners<readonly AddressConflict[]>()
  readonly #unsubscribe: readonly (() => void)[]
  #timer: Timer | null = null
  #defended = 0
  #dismissed = 0

  constructor(options: AddressDefenceOptions) {
    this.#options = options
    const { helper } = options
    this.#unsubscribe = [helper.onClaim((claim) => this.#claimed(claim)), helper.onRestart(() => this.#again())]
  }

  /** Counts announcements in answer to a claim. */
  get defended(): number {
    return this.#defended
  }

  /** Counts claims right after a takeover that were over when the takeover had settled. */
  get dismissed(): number {
    return this.#dismissed
  }

  /** Conflicts of the last minute. */
  conflicts(): readonly AddressConflict[] {
    return Array.from(this.#seen.values(), ({ conflict }) => conflict)
  }

  /** Calls back when a conflict begins, ends, or has another claimant. @returns a function that unsubscribes */
  onChange(listener: (conflicts: readonly AddressConflict[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Defends these addresses from now on. Cannot fail: an address that cannot be defended is announced all the same.
   * @param takenOver addresses that another node of the group owned until now
   */
  hold(place: Place, addresses: readonly string[], takenOver: ReadonlySet<string> = new Set()): Promise<void> {
    const held = this.#at(place)
    const now = this.#options.clock.monotonicMs()
    for (const address of addresses) held.addresses.set(address, takenOver.has(address) ? now : null)
    return this.#tell(place, { add: addresses, remove: [] })
  }

  /** Called before addresses are unbound, since the next owner will announce them. */
  release(place: Place, addresses: readonly string[]): Promise<void> {
    const held = this.#at(place)
    for (const address of addresses) {
      held.addresses.delete(address)
      this.#forget(`${nameOf(place)} ${address}`)
    }
    if (held.addresses.size === 0) this.#held.delete(nameOf(place))
    return this.#tell(place, { add: [], remove: addresses })
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#timer?.clear()
    for (const recheck of this.#rechecks.values()) recheck.abort()
    this.#rechecks.clear()
    this.#listeners.clear()
  }

  #at(place: Place): Held {
    const held = this.#held.get(nameOf(place)) ?? { place, addresses: new Map<string, number | null>() }
    this.#held.set(nameOf(place), held)
    return held
  }

  /** A restarted helper has lost its state. */
  async #again(): Promise<void> {
    for (const { place, addresses } of [...this.#held.values()])
      await this.#tell(place, { add: [...addresses.keys()], remove: [] })
  }

  async #tell(place: Place, change: { readonly add: readonly string[]; readonly remove: readonly string[] }) {
    if (change.add.length + change.remove.length === 0) return
    try {
      await this.#options.helper.defend({ ...place, ...change })
    } catch (error) {
      // A missing interface or domain has no claimants. A restarted helper gets the addresses again.
      if (error instanceof HelperError && change.add.length > 0)
        this.#options.log.warn({ dev: place.dev, error: error.message }, 'the addresses are not defended')
    }
  }

  #claimed({ netns, dev, address, mac, claims }: AddressClaim): void {
    const place = { netns: netns ?? undefined, dev }
    const takenAtMs = this.#held.get(nameOf(place))?.addresses.get(address)
    if (takenAtMs === undefined) return
    const { clock, log } = this.#options
    this.#defended++
    const since = clock.now().toISOString()
    if (takenAtMs !== null && clock.monotonicMs() < takenAtMs + SETTLED_AFTER_MS) {
      log.debug({ dev, address, mac }, 'claimed right after its takeover')
      void this.#lookInto(place, { address, mac, since }, takenAtMs + SETTLED_AFTER_MS)
      return
    }
    this.#note(place, { address, mac, since }, claims)
  }

  /**
   * The previous owner releases the address sooner or later. The claim is real if another host still answers after
   * that.
   */
  async #lookInto(place: Place, claim: AddressConflict, settledAtMs: number): Promise<void> {
    const key = `${nameOf(place)} ${claim.address}`
    if (this.#rechecks.has(key)) return
    const recheck = new AbortController()
    this.#rechecks.set(key, recheck)
    const { clock } = this.#options
    let mac: string | null
    do {
      await pause(clock, LOOK_EVERY_MS, recheck.signal)
      mac = recheck.signal.aborted ? null : await this.#holder(place, claim.address)
      if (recheck.signal.aborted) return
    } while (mac !== null && clock.monotonicMs() < settledAtMs)
    this.#rechecks.delete(key)
    if (mac === null) this.#dismissed++
    else this.#note(place, { ...claim, mac }, 1)
  }

  async #holder({ netns, dev }: Place, address: string): Promise<string | null> {
    try {
      const answer = await this.#options.helper.arpProbe({ netns, dev, address, timeoutMs: PROBE_MS })
      return answer.answered ? answer.mac : null
    } catch {
      // If no probe can be sent, no claim can be received either. The next claim decides.
      return null
    }
  }

  #note(place: Place, { address, mac, since }: AddressConflict, claims: number): void {
    const { clock, log } = this.#options
    const key = `${nameOf(place)} ${address}`
    const before = this.#seen.get(key)?.conflict
    const conflict = before?.mac === mac ? before : { address, mac, since: before?.since ?? since }
    this.#seen.set(key, { conflict, lastMs: clock.monotonicMs() })
    log.warn(
      { dev: place.dev, address, mac, claims },
      'another host claims an address of this node; announced it again',
    )
    this.#timer ??= clock.setTimer(() => this.#review(), OVER_AFTER_MS)
    if (conflict !== before) this.#changed()
  }

  #forget(key: string): void {
    this.#rechecks.get(key)?.abort()
    this.#rechecks.delete(key)
    if (this.#seen.delete(key)) this.#changed()
  }

  #review(): void {
    this.#timer = null
    const now = this.#options.clock.monotonicMs()
    const over = [...this.#seen].filter(([, { lastMs }]) => now - lastMs >= OVER_AFTER_MS)
    for (const [key] of over) this.#seen.delete(key)
    if (over.length > 0) this.#changed()
    if (this.#seen.size === 0) return
    const earliest = Math.min(...Array.from(this.#seen.values(), ({ lastMs }) => lastMs))
    this.#timer = this.#options.clock.setTimer(() => this.#review(), earliest + OVER_AFTER_MS - now)
  }

  #changed(): void {
    this.#listeners.tell(this.conflicts())
  }
}

const nameOf = ({ netns, dev }: Place): string => `${netns ?? ''} ${dev}`
