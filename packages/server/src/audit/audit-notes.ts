import type { ErrorCode } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import type { Session } from '../authn/authenticator.ts'

/** Who it was, where no token says so: a login, a node. */
export interface NotedCaller {
  readonly userId?: string
  readonly userName?: string
  readonly projectId?: string | null
  readonly method: string
  readonly credentialId?: string
}

/** What is noted of a request while it is handled, for the audit log. */
export interface AuditNotes {
  /** Of the token that was shown, or that the request made. */
  session?: Session
  caller?: NotedCaller
  code?: ErrorCode
  /** To be written down although it changes nothing. */
  isSensitive?: boolean
  /** What the answer shows of the object, before it is turned into text. */
  answer?: unknown
  /** In place of what the path names. */
  object?: string
  objectProjectId?: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    auditNotes?: AuditNotes
  }
}

export const notesOf = (request: FastifyRequest): AuditNotes => {
  request.auditNotes ??= {}
  return request.auditNotes
}

/** A surface says which error of the table it answers with. */
export const noteError = (request: FastifyRequest, error: { readonly code: ErrorCode }): void => {
  notesOf(request).code = error.code
}

/** A login: who it would be, until it has succeeded. */
export const noteLogin = (request: FastifyRequest, caller: NotedCaller): void => {
  notesOf(request).caller = caller
}

export const noteSession = (request: FastifyRequest, session: Session): void => {
  notesOf(request).session = session
}
