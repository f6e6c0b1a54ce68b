import { type ErrorKind, SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { noteError } from '../audit/audit-notes.ts'

/**
 * Turns any thrown error into one of the table. Other errors are bugs: they are logged with the request's id, and the
 * client gets only that id.
 */
export function errorOf(error: unknown, request: FastifyRequest): SpoutError {
  const known = knownError(error, request)
  noteError(request, known)
  return known
}

function knownError(error: unknown, request: FastifyRequest): SpoutError {
  if (error instanceof SpoutError) {
    if (error.kind === 'internal' || error.kind === 'unavailable' || error.kind === 'unknown')
      request.log.warn({ event: 'request-failed', requestId: request.id, err: error }, 'request failed')
    return error
  }
  const code = codeOf(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new SpoutError('BodyTooLarge', { limitBytes: request.routeOptions.bodyLimit ?? 0 })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new SpoutError('MalformedJson', { reason: 'its content type is not application/json' })
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return new SpoutError('MalformedJson', { reason: 'it is not as long as Content-Length says' })
  request.log.error({ event: 'request-threw', requestId: request.id, err: error, bug: true }, 'unexpected error')
  return new SpoutError('Internal', { reference: request.id }, { cause: error })
}

/** The code of an error of the server, such as `FST_ERR_CTP_BODY_TOO_LARGE`; undefined for others. */
export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

/** The usual HTTP status of each kind. A surface may override single ones. */
export const HTTP_STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  preconditionFailed: 412,
  gone: 410,
  tooLarge: 413,
  overQuota: 403,
  unsupported: 400,
  throttled: 429,
  unavailable: 503,
  unknown: 502,
  internal: 500,
}

/**
 * The headers of an error's answer: how to log in after a 401 (RFC 9110, section 11.6.1), and when to try again (section
 * 10.2.3), if trying again alone can help.
 * @param challenge of `WWW-Authenticate`
 */
export function errorHeaders({ kind, params }: SpoutError, status: number, challenge: string): Record<string, string> {
  const isAway = kind === 'unavailable' || kind === 'unknown'
  const retryAfter = kind === 'throttled' ? String(params['seconds'] ?? 1) : isAway ? '1' : null
  return {
    ...(status === 401 && { 'www-authenticate': challenge }),
    ...(retryAfter !== null && { 'retry-after': retryAfter }),
  }
}

/** The challenge of OpenStack's services. */
export const keystoneChallenge = ({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string =>
  `Keystone uri="${protocol}://${host}"`
