import type { ErrorCode } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import type { Session } from '../authn/issued-tokens.ts'

/** The caller, where no token says so: of a login, or a node. */
export interface NotedCaller {
  readonly userId?: string
  readonly userName?: string
  readonly projectId?: string | null
  readonly method: string
  readonly credentialId?: string
}

/** Notes for the audit log by the handler of a request. */
export interface AuditNotes {
  /** The session of the token that the request carried or created. */
  session?: Session
  caller?: NotedCaller
  code?: ErrorCode
  /** Audit the request although it changes nothing. */
  isSensitive?: boolean
  /** The object in the answer, before it is serialised. */
  answer?: unknown
  /** Replaces the object that the path names. */
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

/** Notes which error of the table the surface answers with. */
export const noteError = (request: FastifyRequest, error: { readonly code: ErrorCode }): void => {
  notesOf(request).code = error.code
}

/** Notes the answer of a request, which a surface writes itself. What Fastify serialises needs no note. */
export const noteAnswer = (request: FastifyRequest, answer: unknown): void => {
  notesOf(request).answer = answer
}

/** Notes whom a login is for, before it has succeeded. */
export const noteLogin = (request: FastifyRequest, caller: NotedCaller): void => {
  notesOf(request).caller = caller
}

export const noteSession = (request: FastifyRequest, session: Session): void => {
  notesOf(request).session = session
}
