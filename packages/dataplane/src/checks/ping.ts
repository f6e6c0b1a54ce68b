import type { CheckResult, CheckTarget, HealthCheck } from '../check.ts'
import { connectFailure, type Pinger, type ProbePlace } from './connector.ts'

/** Up when the address answers one ICMP or ICMPv6 echo. The port is not used. */
export class PingCheck implements HealthCheck {
  readonly type = 'ping'
  readonly #pinger: Pinger
  readonly #place: ProbePlace

  constructor(pinger: Pinger, place: ProbePlace) {
    this.#pinger = pinger
    this.#place = place
  }

  async run(target: CheckTarget): Promise<CheckResult> {
    const { address, domain, spec } = target
    const answer = await this.#pinger.ping({ netns: this.#place(domain), address, timeoutMs: spec.timeoutMs })
    return answer.answered
      ? { ok: true, reason: null, durationMs: answer.durationMs }
      : { ok: false, reason: connectFailure(answer.reason, spec.timeoutMs), durationMs: spec.timeoutMs }
  }
}
