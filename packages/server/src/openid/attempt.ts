import { hash } from 'node:crypto'
import { newSecret } from '../authn/token-secret.ts'

/**
 * A login that a browser has begun. It is kept in a cookie of that browser alone, so nobody else's answer counts there,
 * and strangers who begin many logins fill no memory.
 */
export interface Attempt {
  /** Comes back with the answer: the browser that asked is the one that is answered (RFC 6749, section 10.12). */
  readonly state: string
  /** Is in the ID token: it was made for this login (OpenID Connect Core 1.0, section 3.1.2.1). */
  readonly nonce: string
  /** Proves to the provider that who has the code also began the login (RFC 7636). */
  readonly verifier: string
}

const TEXT = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/

export const newAttempt = (): Attempt => ({ state: newSecret(), nonce: newSecret(), verifier: newSecret() })

/** As the value of a cookie. */
export const textOf = ({ state, nonce, verifier }: Attempt): string => [state, nonce, verifier].join('.')

/** The attempt in a cookie's value; null if it is none. */
export function attemptIn(text: string): Attempt | null {
  const [, state, nonce, verifier] = TEXT.exec(text) ?? []
  if (state === undefined || nonce === undefined || verifier === undefined) return null
  return { state, nonce, verifier }
}

/** RFC 7636, section 4.2: `S256`. */
export const challengeOf = ({ verifier }: Attempt): string => hash('sha256', verifier, 'base64url')
