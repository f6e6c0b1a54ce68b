import type { IncomingMessage } from 'node:http'

/** What is read of a request here. */
export type Asked = Pick<IncomingMessage, 'headers' | 'url'>

/** A cookie of the web page, such as the one in which a browser keeps the token of its session. Scripts cannot read it. */
export interface PageCookie {
  readonly name: string
  readonly attributes: string
}

/** The web page uses no other API, so the cookie counts for no other. */
const NATIVE_API = '/api/v1/'
/** The page sends it with every request. A foreign page cannot: its browser would ask us first, and we never agree. */
const PAGE_HEADER = 'spout-page'
/** The longest token that fits in a cookie, with its name (RFC 6265, section 6.1). */
const MOST_TOKEN_LENGTH = 3800
/** The characters of our own tokens and of Keystone's. */
const TOKEN = /^[\w.=+/~-]+$/

/** The token of the session, or a login at an identity provider that was begun. */
type Kept = 'session' | 'login'

/**
 * @param isSecure whether browsers reach the API over TLS. Then no other site, not even one of the same domain, can set
 *   the cookie (RFC 6265bis, section 4.1.3.2)
 */
export const pageCookie = (isSecure: boolean, kept: Kept = 'session'): PageCookie =>
  isSecure
    ? { name: `__Host-spout-${kept}`, attributes: 'Path=/; Secure; HttpOnly; SameSite=Strict' }
    : { name: `spout-${kept}`, attributes: 'Path=/api/v1; HttpOnly; SameSite=Strict' }

/** Whether a token can be a cookie's value. */
export const fitsInCookie = (token: string): boolean => token.length <= MOST_TOKEN_LENGTH && TOKEN.test(token)

/** @param seconds for which the browser keeps it; 0 deletes it */
export const setCookie = ({ name, attributes }: PageCookie, token: string, seconds: number): string =>
  `${name}=${token}; Max-Age=${seconds}; ${attributes}`

/**
 * Whether our own page sent a request to the native API. Browsers say where a request comes from, and no page can change
 * that (Fetch Metadata, `Sec-Fetch-Site`). They leave it out on plain HTTP to other machines; there the page's header
 * proves it.
 */
export function isOfPage({ headers, url }: Asked): boolean {
  if (url?.startsWith(NATIVE_API) !== true) return false
  const site = headers['sec-fetch-site']
  return site === undefined ? headers[PAGE_HEADER] === '1' : site === 'same-origin'
}

/**
 * The token in a request's cookie; null if it has none, if our own page did not send it, or if it has two: one of them
 * would be somebody else's.
 */
export function tokenInCookie({ name }: PageCookie, asked: Asked): string | null {
  const { cookie } = asked.headers
  if (cookie === undefined || !isOfPage(asked)) return null
  const prefix = `${name}=`
  const values = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  const [token] = values
  return values.length === 1 && token !== undefined && fitsInCookie(token) ? token : null
}
