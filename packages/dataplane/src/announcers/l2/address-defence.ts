import { type Clock, pause, type Timer } from '@spout/runtime'
import { type AddressClaim, HelperError, type Log, type NativeHelper } from '@spout/sys'

/** An address that this node answers for and somebody else on the wire claims. */
export interface AddressConflict {
  readonly address: string
  /** Who claims it; the last one of several. */
  readonly mac: string
  /** RFC 3339; since when, as far as no pause was longer than a minute. */
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
  /** Each with when it was taken over from another node; null when it was not. */
  readonly addresses: Map<string, number | null>
}

/** A claim that goes on is told of every 10 s. */
const OVER_AFTER_MS = 60_000
/** So long after a takeover the node before may not have heard of it, and defends the address too. */
const SETTLED_AFTER_MS = 3_000
const LOOK_EVERY_MS = 1_000
const PROBE_MS = 45

/**
 * Keeps what this node answers for when somebody else on the segment claims it: each claim is answered by one announcement,
 * at most once in 10 s for an address (RFC 5227 section 2.4 (c): a host that never gives up). The helper does that within
 * the millisecond; here is what it defends, and who claims what. Right after a takeover a claim counts only when somebody
 * goes on to answer for the address: the node that is giving it up says once more that it is its own when it hears the new
 * one first.
 */
export class AddressDefence {
  readonly #options: AddressDefenceOptions
  readonly #held = new Map<string, Held>()
  readonly #seen = new Map<string, Seen>()
  /** Claims right after a takeover that are looked into, by place and address. */
  readonly #doubts = new Map<string, AbortController>()
  readonly #listeners = new Set<(conflicts: readonly AddressConflict[]) => void>()
  readonly #unsubscribe: readonly (() => void)[]
  #timer: Timer | null = null
  #defended = 0
  #dismissed = 0

  constructor(options: AddressDefenceOptions) {
    this.#options = options
    const { helper } = options
    this.#unsubscribe = [helper.onClaim((claim) => this.#claimed(claim)), helper.onRestart(() => this.#again())]
  }

  /** How often an address was announced once more because somebody claimed it. */
  get defended(): number {
    return this.#defended
  }

  /** How often a claim right after a takeover was over before the takeover had settled. */
  get dismissed(): number {
    return this.#dismissed
  }

  /** Those of the last minute. */
  conflicts(): readonly AddressConflict[] {
    return Array.from(this.#seen.values(), ({ conflict }) => conflict)
  }

  /** Calls back when another address is claimed, by another, or no longer. Returns the unsubscriber. */
  onChange(listener: (conflicts: readonly AddressConflict[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * These are this node's from now on. Cannot fail: what cannot be defended is answered for all the same.
   * @param takenOver those of them that another node of the group has had until now
   */
  hold(place: Place, addresses: readonly string[], takenOver: ReadonlySet<string> = new Set()): Promise<void> {
    const held = this.#at(place)
    const now = this.#options.clock.monotonicMs()
    for (const address of addresses) held.addresses.set(address, takenOver.has(address) ? now : null)
    return this.#tell(place, { add: addresses, remove: [] })
  }

  /** To be called before they are unbound: who takes them over announces them. */
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
    for (const doubt of this.#doubts.values()) doubt.abort()
    this.#doubts.clear()
    this.#listeners.clear()
  }

  #at(place: Place): Held {
    const held = this.#held.get(nameOf(place)) ?? { place, addresses: new Map<string, number | null>() }
    this.#held.set(nameOf(place), held)
    return held
  }

  /** The helper lost its memory with its life. */
  async #again(): Promise<void> {
    for (const { place, addresses } of [...this.#held.values()])
      await this.#tell(place, { add: [...addresses.keys()], remove: [] })
  }

  async #tell(place: Place, change: { readonly add: readonly string[]; readonly remove: readonly string[] }) {
    if (change.add.length + change.remove.length === 0) return
    try {
      await this.#options.helper.defend({ ...place, ...change })
    } catch (error) {
      // An interface or domain that is gone has nobody to claim anything; a helper that is gone is told again.
      if (error instanceof HelperError && change.add.length > 0)
        this.#options.log.warn({ dev: place.dev, error: error.message }, 'addresses not defended')
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

  /** The node before lets go sooner or later: a claim is one when somebody still answers after that. */
  async #lookInto(place: Place, claim: AddressConflict, settledAtMs: number): Promise<void> {
    const key = `${nameOf(place)} ${claim.address}`
    if (this.#doubts.has(key)) return
    const doubt = new AbortController()
    this.#doubts.set(key, doubt)
    const { clock } = this.#options
    let mac: string | null
    do {
      await pause(clock, LOOK_EVERY_MS, doubt.signal)
      mac = doubt.signal.aborted ? null : await this.#holder(place, claim.address)
      if (doubt.signal.aborted) return
    } while (mac !== null && clock.monotonicMs() < settledAtMs)
    this.#doubts.delete(key)
    if (mac === null) this.#dismissed++
    else this.#note(place, { ...claim, mac }, 1)
  }

  async #holder({ netns, dev }: Place, address: string): Promise<string | null> {
    try {
      const answer = await this.#options.helper.arpProbe({ netns, dev, address, timeoutMs: PROBE_MS })
      return answer.answered ? answer.mac : null
    } catch {
      // Where nobody can be asked nobody can be heard either; the next claim tells.
      return null
    }
  }

  #note(place: Place, { address, mac, since }: AddressConflict, claims: number): void {
    const { clock, log } = this.#options
    const key = `${nameOf(place)} ${address}`
    const before = this.#seen.get(key)?.conflict
    const conflict = before?.mac === mac ? before : { address, mac, since: before?.since ?? since }
    this.#seen.set(key, { conflict, lastMs: clock.monotonicMs() })
    log.warn({ dev: place.dev, address, mac, claims }, 'another claims an address of this node; announced again')
    this.#timer ??= clock.setTimer(() => this.#review(), OVER_AFTER_MS)
    if (conflict !== before) this.#changed()
  }

  #forget(key: string): void {
    this.#doubts.get(key)?.abort()
    this.#doubts.delete(key)
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
    const conflicts = this.conflicts()
    for (const listener of [...this.#listeners]) listener(conflicts)
  }
}

const nameOf = ({ netns, dev }: Place): string => `${netns ?? ''} ${dev}`
