import type { ErrorCode } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import type { OwnedLoadBalancer } from './audited-object.ts'

/** The caller of a request without a token: who logs in, or a node. */
export interface NotedCaller {
  readonly userId?: string
  readonly userName?: string
  readonly projectId?: string | null
  readonly method: string
  readonly credentialId?: string
}

/** What the handler of a request tells the audit log. */
export interface AuditNotes {
  caller?: NotedCaller
  code?: ErrorCode
  /** Audit the request although it changes nothing. */
  isSensitive?: boolean
  /** The request changes nothing, although its method could. */
  isDryRun?: boolean
  /** The object in the answer, before it is serialised. */
  answer?: unknown
  /** Replaces the object that the path names. */
  object?: string
  objectProjectId?: string | null
  /** The load balancer of the part that the path names, as it was before the request. */
  loadBalancer?: OwnedLoadBalancer | null
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

/** Notes an answer that a surface serialises itself. What Fastify serialises needs no note. */
export const noteAnswer = (request: FastifyRequest, answer: unknown): void => {
  notesOf(request).answer = answer
}

/** Notes whom a login is for, before it has succeeded. */
export const noteLogin = (request: FastifyRequest, caller: NotedCaller): void => {
  notesOf(request).caller = caller
}
