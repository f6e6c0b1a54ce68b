import { type Clock, systemClock } from '@spout/runtime'
import { HelperError, type Log, type NativeHelper } from '@spout/sys'

/** An address that is about to be bound, and its interface. */
export interface Candidate {
  /** Identifies the candidate. */
  readonly key: string
  readonly address: string
  readonly netns?: string
  readonly dev: string
}

export interface DuplicateDetectionOptions {
  readonly helper: NativeHelper
  readonly log: Log
  /** How long a claimed address is refused, from the first refusal. Default 30 s. */
  readonly insistAfterMs?: number
  readonly clock?: Clock
}

/**
 * The helper sends three probes within this time. RFC 5227 waits seconds for hosts behind sleeping radios and slow
 * bridges; on a wired segment the answer takes less than a millisecond.
 */
const PROBE_MS = 45
const INSIST_AFTER_MS = 30_000
/** The agent retries within 37.5 s. After a longer pause the time of refusal starts again. */
const FORGOTTEN_AFTER_MS = 60_000

/**
 * Duplicate address detection before an address is bound: ARP probes (RFC 5227 section 2.1.1) and neighbour
 * solicitations from the unspecified address (RFC 4862 section 5.4). A claimed address is refused until `insistAfterMs`
 * have passed. Then it is bound, since the control plane gave it to this node: the holder may be one of our nodes whose
 * agent is dead and cannot be told to release it.
 */
export class DuplicateDetection {
  readonly #options: DuplicateDetectionOptions
  readonly #clock: Clock
  readonly #claims = new Map<string, { readonly sinceMs: number; askedMs: number }>()
  #refused = 0
  #insisted = 0

  constructor(options: DuplicateDetectionOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Counts refused addresses, and addresses that were bound although another host claimed them. */
  get counters(): { readonly refused: number; readonly insisted: number } {
    return { refused: this.#refused, insisted: this.#insisted }
  }

  /**
   * Probes all candidates at the same time.
   * @returns why an address must not be bound, by key; the others may be
   * @throws HelperLost
   */
  async refused(candidates: readonly Candidate[]): Promise<ReadonlyMap<string, string>> {
    this.#forgetOld()
    const macs = await Promise.all(candidates.map((candidate) => this.#holder(candidate)))
    const words = new Map<string, string>()
    for (const [index, candidate] of candidates.entries()) {
      const mac = macs[index]!
      if (mac === null) this.#claims.delete(candidate.key)
      else if (this.#mayInsist(candidate, mac)) this.#claims.delete(candidate.key)
      else words.set(candidate.key, `${candidate.address} is already on the wire at ${mac}`)
    }
    this.#refused += words.size
    return words
  }

  #mayInsist({ key, address, dev }: Candidate, mac: string): boolean {
    const now = this.#clock.monotonicMs()
    const claim = this.#claims.get(key)
    if (claim === undefined) {
      this.#claims.set(key, { sinceMs: now, askedMs: now })
      this.#options.log.warn({ dev, address, mac }, 'the address was not bound: another host on the segment has it')
      return false
    }
    claim.askedMs = now
    if (now - claim.sinceMs < (this.#options.insistAfterMs ?? INSIST_AFTER_MS)) return false
    this.#insisted++
    this.#options.log.warn({ dev, address, mac }, 'the address was bound although another host still answers for it')
    return true
  }

  async #holder({ address, netns, dev }: Candidate): Promise<string | null> {
    try {
      const result = await this.#options.helper.arpProbe({ netns, dev, address, timeoutMs: PROBE_MS })
      return result.answered ? result.mac : null
    } catch (error) {
      // Probes cannot be sent: the interface is missing, down, or has no link-layer addresses. Binding reports a
      // missing interface.
      if (error instanceof HelperError) return null
      throw error
    }
  }

  #forgetOld(): void {
    const before = this.#clock.monotonicMs() - FORGOTTEN_AFTER_MS
    for (const [key, { askedMs }] of this.#claims) if (askedMs < before) this.#claims.delete(key)
  }
}
