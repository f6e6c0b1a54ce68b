import type { Session } from './issued-tokens.ts'

/** A session by a token that another identity service issued and confirmed. */
export interface ForeignSession {
  /** The session as it was confirmed last. @throws SpoutError once it has ended */
  current(): Session
  /** Verifies the token again, for a request that lasts long. It never rejects. */
  renew(): Promise<void>
  /** How often a request that lasts long calls `renew`. */
  readonly renewEveryMs: number
}

/** Tokens of another identity service. */
export interface ForeignTokens {
  /** Whether a token was confirmed before, so that asking about it again is no guess of a stranger. */
  isKnown(secret: string): boolean
  /** @throws SpoutError Unauthenticated, TokenExpired, Forbidden; Unavailable when the other service does not answer */
  open(secret: string): Promise<ForeignSession>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate, before any handler. */
    foreignSession?: ForeignSession
  }
}
