import type { FastifyRequest } from 'fastify'
import type { Session } from './issued-tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the token that the request carried or created, once it is known. */
    tokenSession?: Session
    /** Where the token was. The web page's is in a cookie. */
    tokenFrom?: 'header' | 'cookie'
  }
}

/** Keeps the session with its request: the audit log names the caller by it. */
export const keepSession = (request: FastifyRequest, session: Session, from: 'header' | 'cookie' = 'header'): void => {
  request.tokenSession = session
  request.tokenFrom = from
}
