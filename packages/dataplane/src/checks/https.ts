import { isIP } from 'node:net'
import { connectingCheck } from './connecting-check.ts'
import { httpOf, httpRequest, judgeAnswer, STATUS_LINE_BYTES } from './http.ts'
import { describeFailure } from './tls-failure.ts'

const HTTPS_PORT = 443

/**
 * Up when the endpoint answers an HTTP request over TLS 1.2 or later with an expected status. Any certificate is
 * accepted, since it says nothing about health. The helper does the TLS handshake, in one request with the rest:
 * `node:tls` always verifies certificates, and a hostile member's chain blocks the process for a third of a second.
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

/**
 * The server name for the ClientHello (RFC 6066 section 3): no address, no final dot; null if the host is no such name.
 */
export function serverNameOf(host: string | null): string | null {
  const name = host?.replace(/\.$/, '') ?? ''
  return name === '' || isIP(name) !== 0 ? null : name
}
