import type { Status, StatusCause } from '../types/index.ts'

/** The API server's refusal, as its Status object tells it. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  /** HTTP status. */
  readonly status: number
  /** One CamelCase word, such as `NotFound`, `Conflict`, `Expired`, `Invalid`; empty when the body was no Status. */
  readonly reason: string
  /** The fields that were refused and why. */
  readonly causes: readonly StatusCause[]
  /** How long the server asked us to wait. */
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
  /** An answer longer than we read. */
  | 'too-large'
  /** An answer that is not JSON. */
  | 'malformed'
  /** The caller's signal. */
  | 'aborted'

/** No answer of the API server, or none that can be read. What was asked may have been done all the same. */
export class KubeUnreachable extends Error {
  override readonly name = 'KubeUnreachable'
  readonly reason: UnreachableReason

  constructor(what: string, reason: UnreachableReason, detail: string) {
    super(`${what}: ${reason}${detail === '' ? '' : `: ${detail}`}`)
    this.reason = reason
  }
}

const isStatus = (error: unknown, status: number): error is KubeError =>
  error instanceof KubeError && error.status === status

export const isNotFound = (error: unknown): error is KubeError => isStatus(error, 404)
/** Somebody else changed the object since it was read. */
export const isConflict = (error: unknown): error is KubeError =>
  isStatus(error, 409) && error.reason !== 'AlreadyExists'
export const isAlreadyExists = (error: unknown): error is KubeError =>
  isStatus(error, 409) && error.reason === 'AlreadyExists'
/** The resourceVersion or the continue token is older than what the server still knows. */
export const isGone = (error: unknown): error is KubeError => isStatus(error, 410)
