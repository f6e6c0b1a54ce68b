import type { CheckResult, CheckTarget, HealthCheck } from '../check.ts'
import { connectFailure, type ProbePlace, type TcpConnector } from './connector.ts'

/** Up when the endpoint accepts a TCP connection. */
export class TcpCheck implements HealthCheck {
  readonly type = 'tcp'
  readonly #connector: TcpConnector
  readonly #place: ProbePlace

  constructor(connector: TcpConnector, place: ProbePlace) {
    this.#connector = connector
    this.#place = place
  }

  async run(target: CheckTarget): Promise<CheckResult> {
    const { address, port, domain, spec } = target
    const netns = this.#place(domain)
    const answer = await this.#connector.connect({ netns, address, port, timeoutMs: spec.timeoutMs })
    const reason = answer.connected ? null : connectFailure(answer.reason, spec.timeoutMs)
    return { ok: answer.connected, reason, durationMs: answer.durationMs }
  }
}
