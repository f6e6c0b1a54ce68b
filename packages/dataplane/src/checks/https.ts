import { isIP } from 'node:net'
import type { ConnectResult } from '@spout/sys'
import type { CheckResult, CheckTarget, HealthCheck } from '../check.ts'
import { connectFailure, type ProbePlace, type TcpConnector } from './connector.ts'
import { type HttpSpec, httpRequest, judgeAnswer, STATUS_LINE_BYTES } from './http.ts'
import { describeFailure } from './tls-failure.ts'

const HTTPS_PORT = 443

/**
 * Up when the endpoint answers an HTTP request over TLS 1.2 or later with an expected status. Any certificate will do: whose
 * it is says nothing of health. The handshake is the helper's, in one request with the rest: verifying a hostile member's
 * certificates, as `node:tls` always does, holds up a process for a third of a second.
 */
export class HttpsCheck implements HealthCheck {
  readonly type = 'https'
  readonly #connector: TcpConnector
  readonly #place: ProbePlace

  constructor(connector: TcpConnector, place: ProbePlace) {
    this.#connector = connector
    this.#place = place
  }

  async run(target: CheckTarget): Promise<CheckResult> {
    const { address, port, domain, spec } = target
    if (spec.http === null) throw new RangeError('an https check without its http part')
    const serverName = serverNameOf(spec.http.host)
    const answer = await this.#connector.connect({
      netns: this.#place(domain),
      address,
      port,
      timeoutMs: spec.timeoutMs,
      tls: serverName === null ? {} : { serverName },
      send: httpRequest(spec.http, address, port, HTTPS_PORT),
      maxBytes: STATUS_LINE_BYTES,
    })
    const reason = judge(answer, spec.http, spec.timeoutMs)
    return { ok: reason === null, reason, durationMs: answer.durationMs }
  }
}

function judge(answer: ConnectResult, http: HttpSpec, timeoutMs: number): string | null {
  if (!answer.connected) return connectFailure(answer.reason, timeoutMs)
  return answer.tls === undefined ? judgeAnswer(answer, http, timeoutMs) : describeFailure(answer.tls)
}

/** The name for the hello (RFC 6066 section 3): no address, no final dot; null when the host is no such name. */
export function serverNameOf(host: string | null): string | null {
  const name = host?.replace(/\.$/, '') ?? ''
  return name === '' || isIP(name) !== 0 ? null : name
}
