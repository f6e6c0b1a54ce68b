import type { IncomingMessage } from 'node:http'
import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import type { Authenticator } from './authenticator.ts'
import type { Session } from './issued-tokens.ts'
import './foreign-session.ts'
import { isOfPage, type PageCookie, tokenInCookie } from './page-cookie.ts'
import { keepSession } from './request-session.ts'
import { secretSha256 } from './token-secret.ts'

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

/** The token in a request's headers, else in the cookie of the web page's session. */
export const tokenSent = (
  { cookie }: { readonly cookie: PageCookie },
  request: Pick<IncomingMessage, 'headers' | 'url'>,
): string | null => tokenOf(request) ?? tokenInCookie(cookie, request)

declare module 'node:http' {
  interface IncomingMessage {
    /** The hash of the token that the request carries, once it was computed. */
    hashedToken?: { readonly secret: string; readonly id: string }
  }
}

/**
 * The hash of a request's token. It is kept with the request, because three places need it: the line that the request
 * waits in, the gate and the handler.
 */
export function tokenIdOf(message: Pick<IncomingMessage, 'hashedToken'>, secret: string): string {
  if (message.hashedToken?.secret !== secret) message.hashedToken = { secret, id: secretSha256(secret) }
  return message.hashedToken.id
}

/**
 * The session of the token that a request carries. It stays with the request, for the audit log.
 * @throws SpoutError Unauthenticated, TokenExpired; to our own page SessionEnded; of another identity service's token,
 *   what ended its session
 */
export function sessionOf(authenticator: Authenticator, request: FastifyRequest): Session {
  try {
    const session = request.foreignSession?.current() ?? ownSession(authenticator, request)
    keepSession(request, session, tokenOf(request) === null ? 'cookie' : 'header')
    return session
  } catch (error) {
    throw toItsSender(request, error)
  }
}

function ownSession(authenticator: Authenticator, request: FastifyRequest): Session {
  const secret = tokenSent(authenticator, request)
  if (secret === null) throw new SpoutError('Unauthenticated', { reason: 'no token was sent' })
  if (secret.length > MAX_TOKEN_LENGTH) throw new SpoutError('Unauthenticated', { reason: 'the token is not known' })
  return authenticator.tokens.session(secret, tokenIdOf(request.raw, secret))
}

/** Our own page is told that its session ended, whatever ended it. So it can tell that from a refused login. */
export function toItsSender(request: FastifyRequest, error: unknown): unknown {
  const isRefusal = error instanceof SpoutError && error.kind === 'unauthenticated'
  if (!isRefusal || tokenOf(request) !== null || !isOfPage(request)) return error
  return new SpoutError('SessionEnded', {}, { cause: error })
}

export const authenticateBy =
  (authenticator: Authenticator): Authenticate =>
  async (request) =>
    sessionOf(authenticator, request).principal
