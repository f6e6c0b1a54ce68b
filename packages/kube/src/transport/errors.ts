import type { Status, StatusCause } from '../types/index.ts'

/** The API server refused a request. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  /** HTTP status. */
  readonly status: number
  /** CamelCase, such as `NotFound`, `Conflict`, `Expired`, `Invalid`; empty when the body was not a Status. */
  readonly reason: string
  /** The fields that were refused and why. */
  readonly causes: readonly StatusCause[]
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | null

  constructor(what: string, status: number, body: Status | null, retryAfterMs: number | null = null) {
    super(`${what}: ${status}${body?.reason ? ` ${body.reason}` : ''}${body?.message ? `: ${body.message}` : ''}`)
    this.status = status
    this.reason = body?.reason ?? ''
    this.causes = body?.details?.causes ?? []
    this.retryAfterMs = retryAfterMs
  }
}

export type UnreachableReason =
  /** No connection, or it broke. */
  | 'connection'
  /** No answer in time. */
  | 'deadline'
  /** A stream without a byte for too long. */
  | 'silent'
  /** An answer above the size limit. */
  | 'too-large'
  /** An answer that is not JSON. */
  | 'malformed'
  /** Aborted by the caller's signal. */
  | 'aborted'

/** The API server did not answer, or not in a readable way. The request may have been executed all the same. */
export class KubeUnreachable extends Error {
  override readonly name = 'KubeUnreachable'
  readonly reason: UnreachableReason
  /** Such as the code of a system call, `ECONNREFUSED`; may be empty. */
  readonly detail: string

  constructor(what: string, reason: UnreachableReason, detail: string) {
    super(`${what}: ${reason}${detail === '' ? '' : `: ${detail}`}`)
    this.reason = reason
    this.detail = detail
  }
}

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])
/** There was no connection, so the server has not got the request. */
export const isUnsent = (error: unknown): error is KubeUnreachable =>
  error instanceof KubeUnreachable && error.reason === 'connection' && NOT_CONNECTED.has(error.detail)

const isStatus = (error: unknown, status: number): error is KubeError =>
  error instanceof KubeError && error.status === status

export const isNotFound = (error: unknown): error is KubeError => isStatus(error, 404)
/** The object has changed since it was read. */
export const isConflict = (error: unknown): error is KubeError =>
  isStatus(error, 409) && error.reason !== 'AlreadyExists'
export const isAlreadyExists = (error: unknown): error is KubeError =>
  isStatus(error, 409) && error.reason === 'AlreadyExists'
/** The server no longer has this resourceVersion or continue token. */
export const isGone = (error: unknown): error is KubeError => isStatus(error, 410)
