import { isIP } from 'node:net'
import { connectingCheck } from './connecting-check.ts'
import { httpOf, httpRequest, judgeAnswer, STATUS_LINE_BYTES } from './http.ts'
import { describeFailure } from './tls-failure.ts'

const HTTPS_PORT = 443

/**
 * Up when the endpoint answers an HTTP request over TLS 1.2 or later with an expected status. Any certificate will do: whose
 * it is says nothing of health. The handshake is the helper's, in one request with the rest: verifying a hostile member's
 * certificates, as `node:tls` always does, holds up a process for a third of a second.
 */
export const httpsCheck = connectingCheck('https', ({ address, port, spec }) => {
  const http = httpOf(spec)
  const serverName = serverNameOf(http.host)
  return {
    tls: serverName === null ? {} : { serverName },
    send: httpRequest(http, address, port, HTTPS_PORT),
    maxBytes: STATUS_LINE_BYTES,
    judge: (answer) =>
      answer.tls === undefined ? judgeAnswer(answer, http, spec.timeoutMs) : describeFailure(answer.tls),
  }
})

/** The name for the hello (RFC 6066 section 3): no address, no final dot; null when the host is no such name. */
export function serverNameOf(host: string | null): string | null {
  const name = host?.replace(/\.$/, '') ?? ''
  return name === '' || isIP(name) !== 0 ? null : name
}
