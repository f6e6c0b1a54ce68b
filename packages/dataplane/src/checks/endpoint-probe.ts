import type { Clock, Timer } from '@spout/runtime'
import type { CheckResult, CheckTarget, HealthCheck } from '../contracts/check.ts'
import { type HealthState, nextHealth, UNKNOWN } from './health-state.ts'
import type { CheckRecord } from './passive-checks.ts'
import type { ProbeGate, ProbeOwner } from './probe-gate.ts'

/**
 * The first probe starts within this time, so that the health of a new member is known soon and 10,000 members do not
 * start at once.
 */
const FIRST_WITHIN_MS = 1_000
/**
 * Intervals are shortened by up to this share, so that probes that start together drift apart. An interval is never
 * longer than configured.
 */
const JITTER = 0.1
/**
 * If a time-out is reported this much too late, this machine was stalled and may have missed the answer. One such
 * result is ignored. On a machine that is always late a dead endpoint is still found.
 */
const STALL_MS = 20

export interface EndpointProbeOptions {
  readonly target: CheckTarget
  readonly owner: ProbeOwner['owner']
  readonly check: HealthCheck
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly gate: ProbeGate
  readonly initial: { readonly state: HealthState; readonly since: string } | null
  /** Called when `health` or `reason` changed. */
  readonly onChange: () => void
  /** Called when a probe could not be made, as opposed to one that failed. */
  readonly onError: (error: unknown) => void
}

const targetOf = ({ domain, address, port }: CheckTarget): string => `${domain} ${address} ${port}`

/** Probes one endpoint periodically, one probe at a time. */
export class EndpointProbe {
  readonly #options: EndpointProbeOptions
  readonly #abort = new AbortController()
  #timer: Timer
  #state: HealthState
  #since: string
  #successes = 0
  #inRow = 0
  #stalled = false

  constructor(options: EndpointProbeOptions) {
    this.#options = options
    const { clock, initial, random, target } = options
    this.#state = initial?.state ?? UNKNOWN
    this.#since = initial?.since ?? clock.now().toISOString()
    this.#timer = this.#after(random() * Math.min(FIRST_WITHIN_MS, target.spec.intervalMs))
  }

  get target(): CheckTarget {
    return this.#options.target
  }

  get state(): HealthState {
    return this.#state
  }

  /** RFC 3339; when `health` last changed. */
  get since(): string {
    return this.#since
  }

  get record(): CheckRecord {
    return { successes: this.#successes, inRow: this.#inRow }
  }

  close(): void {
    this.#abort.abort()
    this.#timer.clear()
  }

  #after(delayMs: number): Timer {
    return this.#options.clock.setTimer(() => void this.#round(), delayMs)
  }

  async #round(): Promise<void> {
    const { clock, random, target, owner, gate, check } = this.#options
    const startedAt = clock.monotonicMs()
    let again = false
    try {
      const { signal } = this.#abort
      const result = await gate.pass({ owner, target: targetOf(target) }, () => check.run(target, signal), signal)
      if (result !== null && !this.#abort.signal.aborted) {
        again = !this.#stalled && !result.ok && result.durationMs > target.spec.timeoutMs + STALL_MS
        this.#stalled = again
        if (!again) this.#take(result)
      }
    } catch (error) {
      // The probe was not made, so the state of the target is unchanged.
      if (!this.#abort.signal.aborted) this.#options.onError(error)
    }
    if (this.#abort.signal.aborted) return
    const interval = target.spec.intervalMs * (1 - JITTER * random())
    this.#timer = this.#after(again ? 0 : Math.max(0, startedAt + interval - clock.monotonicMs()))
  }

  #take(result: CheckResult): void {
    this.#inRow = result.ok ? this.#inRow + 1 : 0
    if (result.ok) this.#successes++
    const before = this.#state
    this.#state = nextHealth(before, result, this.#options.target.spec)
    if (this.#state.health !== before.health) this.#since = this.#options.clock.now().toISOString()
    if (this.#state.health !== before.health || this.#state.reason !== before.reason) this.#options.onChange()
  }
}
