import { type SessionCookie, sessionCookie } from '@spout/model'
import type { AnnotationReader } from './annotation-reader.ts'

const MOST_AGE_S = 31_536_000

/**
 * The attributes of the affinity cookie; undefined when no annotation sets one. A wrong value loses only its own
 * attribute.
 */
export function sessionCookieOf(read: AnnotationReader): SessionCookie | undefined {
  const part = <Field extends keyof SessionCookie>(name: string, field: Field, value: unknown) => {
    const made = value === undefined ? undefined : read.parsed(name, sessionCookie, { [field]: value })
    return made === undefined ? {} : { [field]: made[field] }
  }
  // Max-Age takes precedence over Expires, as in browsers.
  const age = ['session-cookie-max-age', 'session-cookie-expires'].map((name) => read.whole(name, 0, MOST_AGE_S))
  const secure = read.text('session-cookie-secure') === undefined ? undefined : read.flag('session-cookie-secure')
  const sameSite = read.text('session-cookie-samesite')?.toLowerCase()
  const cookie = {
    ...part('session-cookie-name', 'name', read.text('session-cookie-name')),
    ...part('session-cookie-path', 'path', read.text('session-cookie-path')),
    ...part('session-cookie-samesite', 'sameSite', sameSite),
    // Browsers drop such a cookie.
    ...(secure === undefined || (sameSite === 'none' && !secure) ? {} : { secure }),
    // 0 is none.
    ...part(
      'session-cookie-max-age',
      'maxAgeSeconds',
      age.find((seconds) => seconds !== undefined && seconds > 0),
    ),
  }
  return Object.keys(cookie).length === 0 ? undefined : sessionCookie.parse(cookie)
}
