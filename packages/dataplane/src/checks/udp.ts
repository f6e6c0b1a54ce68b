import type { CheckResult, CheckTarget, HealthCheck } from '../check.ts'
import type { ProbePlace, UdpProber } from './connector.ts'

/**
 * A host sends at most one refusal a second to each peer (`icmp_ratelimit`), for all its ports together: for so long after
 * one, silence says nothing else.
 */
const REFUSAL_HOLDS_MS = 10_000

interface Refusal {
  readonly reason: string
  readonly atMs: number
}

/**
 * Up unless the endpoint refuses an empty datagram: most services are silent to what they do not understand, so silence
 * is no failure. A host that is switched off is silent as well, until nobody answers for its address any more.
 */
export class UdpCheck implements HealthCheck {
  readonly type = 'udp'
  readonly #prober: UdpProber
  readonly #place: ProbePlace
  readonly #now: () => number
  /** Oldest first. */
  readonly #refusals = new Map<string, Refusal>()

  constructor(prober: UdpProber, place: ProbePlace, now: () => number = () => performance.now()) {
    this.#prober = prober
    this.#place = place
    this.#now = now
  }

  async run(target: CheckTarget): Promise<CheckResult> {
    const { address, port, domain, spec } = target
    const netns = this.#place(domain)
    const answer = await this.#prober.udp({ netns, address, port, timeoutMs: spec.timeoutMs })
    const isSilent = !answer.answered && answer.reason === 'timed out'
    const endpoint = `${domain} ${address} ${port}`
    if (!isSilent) this.#refusals.delete(endpoint)
    if (!isSilent && !answer.answered) this.#refusals.set(endpoint, { reason: answer.reason, atMs: this.#now() })
    this.#forgetOld()
    const reason = this.#refusals.get(endpoint)?.reason ?? null
    return { ok: reason === null, reason, durationMs: answer.durationMs }
  }

  #forgetOld(): void {
    for (const [endpoint, { atMs }] of this.#refusals) {
      if (this.#now() - atMs < REFUSAL_HOLDS_MS) return
      this.#refusals.delete(endpoint)
    }
  }
}
