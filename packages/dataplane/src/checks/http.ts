import type { CheckSpec } from '@spout/model'
import { bracketed, endpointText } from '@spout/net'
import { type Answer, connectingCheck } from './connecting-check.ts'
import { timedOut } from './connector.ts'

export type HttpSpec = NonNullable<CheckSpec['http']>

/**
 * Length of `HTTP/1.1 200 `. The check reads no more, so it does not wait for a body that streams or a server that
 * keeps the connection open.
 */
export const STATUS_LINE_BYTES = 13

/** Up when the endpoint answers an HTTP request with an expected status. */
export const httpCheck = connectingCheck('http', ({ address, port, spec }) => {
  const http = httpOf(spec)
  return {
    send: httpRequest(http, address, port),
    maxBytes: STATUS_LINE_BYTES,
    judge: (answer) => judgeAnswer(answer, http, spec.timeoutMs),
  }
})

/** @throws RangeError if the specification has no HTTP part */
export function httpOf({ type, http }: CheckSpec): HttpSpec {
  if (http === null) throw new RangeError(`an ${type} check needs its http part`)
  return http
}

const PRINTABLE = /^[\x21-\x7e]+$/
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * The request's bytes (RFC 9112 section 3).
 * @param usualPort is left out of `Host`
 * @throws RangeError if a field contains bytes that could end it; the model admits no such field
 */
export function httpRequest(http: HttpSpec, address: string, port: number, usualPort = 80): Uint8Array {
  const host = http.host ?? (port === usualPort ? bracketed(address) : endpointText({ address, port }))
  for (const field of [http.method, http.path, host])
    if (!PRINTABLE.test(field))
      throw new RangeError(`${JSON.stringify(field)} contains a character that is not valid in a request`)
  const lines = [
    `${http.method} ${http.path} HTTP/${http.version}`,
    `Host: ${host}`,
    'User-Agent: spout-health-check',
    'Accept: */*',
    ...(METHODS_WITH_BODY.has(http.method) ? ['Content-Length: 0'] : []),
    'Connection: close',
  ]
  return new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n`)
}

/**
 * The status code in the first bytes of a response; null if they are not an HTTP/1 status line (RFC 9112 section 4).
 */
export function statusCode(received: Uint8Array): number | null {
  const text = new TextDecoder('latin1').decode(received.subarray(0, STATUS_LINE_BYTES))
  // The space after the code is mandatory, but servers without a reason phrase leave it out.
  const match = /^HTTP\/1\.[01] ([1-5][0-9]{2})(?:[ \r\n]|$)/.exec(text)
  return match === null ? null : Number(match[1])
}

/** Why the answer is not the expected one; null if it is. */
export function judgeAnswer(
  answer: Pick<Answer, 'received' | 'end'>,
  http: Pick<HttpSpec, 'expectedCodes'>,
  timeoutMs: number,
): string | null {
  const complete = answer.received.length >= STATUS_LINE_BYTES
  if (!complete && answer.end === 'timeout') return timedOut(timeoutMs)
  if (answer.received.length === 0) return answer.end === 'reset' ? 'connection reset' : 'closed without an answer'
  const status = statusCode(answer.received)
  if (status === null) return 'the answer is not HTTP'
  const expected = http.expectedCodes.some(({ first, last }) => first <= status && status <= last)
  return expected ? null : `status ${status}, expected ${describeCodes(http.expectedCodes)}`
}

/** `200, 300-399`. */
export const describeCodes = (codes: HttpSpec['expectedCodes']): string =>
  codes.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
