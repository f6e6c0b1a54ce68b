import { SpoutError } from '@spout/model'
import { ProviderAway } from './provider-fetch.ts'

/** Errors of OAuth 2.0 that concern this one login (RFC 6749, section 5.2). Others concern Spout as the client. */
const OF_THIS_LOGIN = 'invalid_grant'
/** RFC 6749, section 5.2: what `error` may consist of, and no longer than any that is known. */
const ERROR_CODE = /^[\w.:/-]{1,80}$/

/** The first error of a chain of causes that this is true of. */
function causeOf(error: unknown, is: (one: Error) => boolean): Error | null {
  for (let one = error; one instanceof Error; one = one.cause) if (is(one)) return one
  return null
}

/** Why there is no provider to ask, for whoever wanted to log in. */
export function unavailable(name: string, error: unknown): SpoutError {
  const away = causeOf(error, (one) => one instanceof ProviderAway)
  const reason = away ?? (error instanceof Error ? error : new Error(String(error)))
  return new SpoutError('Unavailable', { what: name, reason: reason.message })
}

/**
 * Why the answer of a provider opens no session. It contains neither code nor token: of the library's errors only the
 * fixed sentences are taken.
 */
export function refusalOf(name: string, error: unknown): SpoutError {
  if (causeOf(error, (one) => one instanceof ProviderAway) !== null) return unavailable(name, error)
  const code = error instanceof Error && 'error' in error ? String(error.error) : null
  if (code === OF_THIS_LOGIN) return unauthenticated(`${name} takes this login as used up or too old: log in again`)
  if (code !== null) {
    const said = ERROR_CODE.test(code) ? code : 'an unknown error'
    return new SpoutError('Unavailable', { what: name, reason: `it refuses Spout as its client: ${said}` })
  }
  const reason = error instanceof Error ? error.message : 'an unknown error'
  return unauthenticated(`what ${name} said of this login is not valid: ${reason}`)
}

export const unauthenticated = (reason: string): SpoutError => new SpoutError('Unauthenticated', { reason })
