import { ATTEMPT_HEADER, type Attempt } from '@spout/model/errors'

/** Bad Gateway, Service Unavailable, Gateway Timeout: whoever answers cannot serve now, and another may. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** What became of a request by this answer. Null: it is the control plane's answer to it. */
export function attemptOfAnswer({ status, headers }: Pick<Response, 'status' | 'headers'>): Attempt | null {
  if (!AWAY.has(status)) return null
  return headers.get(ATTEMPT_HEADER) === 'not-begun' ? 'not-begun' : 'unknown'
}

/** What became of a request for which `fetch` threw this. In doubt it may have been carried out. */
export const attemptOfFailure = (error: unknown): Attempt => (isUnconnected(causeOf(error)) ? 'not-begun' : 'unknown')

/** A read may always be repeated. A change may have been made by somebody else in between, so it is not made again. */
export const mayAskAnother = (method: string, attempt: Attempt): boolean => method === 'GET' || attempt === 'not-begun'

/** Whether the caller no longer wants an answer. When its time is over instead, that speaks against who was asked. */
export const isGivenUp = (signal: AbortSignal | undefined): boolean =>
  signal?.aborted === true && (signal.reason as Error | undefined)?.name !== 'TimeoutError'

/** The reason why `fetch` failed, in one line. */
export function failureText(error: unknown): string {
  const cause = causeOf(error)
  // An error about several addresses of one name has no text of its own.
  if (cause instanceof AggregateError) return cause.errors.map(failureText).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}

const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error

/** Codes of certificates that were refused. A handshake comes before the request. */
const CERTIFICATE_REFUSED = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID)/

function isUnconnected(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(isUnconnected)
  const { code = '', syscall = '' } = cause as Partial<NodeJS.ErrnoException>
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true
  return code === 'UND_ERR_CONNECT_TIMEOUT' || CERTIFICATE_REFUSED.test(code)
}
