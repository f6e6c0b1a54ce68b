import type { IncomingMessage } from 'node:http'
import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { noteSession } from '../audit/audit-notes.ts'
import type { Authenticator, Session } from './authenticator.ts'
import './foreign-session.ts'

/** Finds out who sent a request. Every surface gets it. @throws SpoutError Unauthenticated, TokenExpired */
export type Authenticate = (request: FastifyRequest) => Promise<Principal>

const MAX_TOKEN_LENGTH = 256

/** The token of a request: `X-Auth-Token`, as OpenStack's clients send it, or `Authorization: Bearer`. */
export function tokenOf(request: Pick<IncomingMessage, 'headers'>): string | null {
  const header = request.headers['x-auth-token']
  if (typeof header === 'string' && header !== '') return header
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')
  return bearer?.[1] ?? null
}

export function sessionOf(authenticator: Authenticator, request: FastifyRequest): Session {
  const secret = tokenOf(request)
  if (secret === null) throw new SpoutError('Unauthenticated', { reason: 'no token was sent' })
  const foreign = request.foreignSession?.current()
  if (foreign !== undefined) {
    noteSession(request, foreign)
    return foreign
  }
  if (secret.length > MAX_TOKEN_LENGTH) throw new SpoutError('Unauthenticated', { reason: 'the token is not known' })
  const session = authenticator.session(secret)
  noteSession(request, session)
  return session
}

export const authenticateBy =
  (authenticator: Authenticator): Authenticate =>
  async (request) =>
    sessionOf(authenticator, request).principal
