import type { CookieAttributes, SessionShape } from '../sections/shape.ts'

/**
 * The rules of a backend whose clients keep their server. Our cookie holds the server's name. So the proxy stores
 * nothing, and the cookie is valid on every node and after a restart. If its server is gone or down, another one serves
 * the request, and the response sets the cookie anew.
 *
 * If the session belongs to a cookie of the application, our cookie is set when a member sets that one, with the same
 * attributes. It counts only while the client sends that one, too. So sessions begin and end with the application's.
 */
export function sessionRules(session: SessionShape | undefined): readonly string[] {
  if (session === undefined) return []
  const { cookie, application, attributes = {} } = session
  const kept = [
    '    use-server %[var(txn.session)] if { var(txn.session) -m found }',
    '    http-response set-var(txn.server) srv_name',
    '    acl kept var(txn.server),strcmp(txn.session) eq 0',
  ]
  if (application !== undefined)
    return [
      `    http-request set-var(txn.cookie_name) str(${application})`,
      '    http-request set-var(txn.begun) lua.has_session',
      `    http-request set-var(txn.session) req.cook(${cookie}) if { var(txn.begun) -m str yes }`,
      ...kept,
      '    http-response set-var(txn.scope) lua.scope_of_new_session',
      `    http-response add-header Set-Cookie "${cookie}=%[var(txn.server)]%[var(txn.scope)]" if { var(txn.scope) -m len gt 0 }`,
    ]
  const { name, secure = null } = attributes
  const set = (more: string, condition = ''): string =>
    `    http-response add-header Set-Cookie "${textOf(name) ?? cookie}=%[var(txn.server)]${wordsOf(attributes)}${more}" if !kept${condition}`
  return [
    ...(name === undefined
      ? [`    http-request set-var(txn.session) req.cook(${cookie})`]
      : [
          `    http-request set-var(txn.cookie_name) str(${name})`,
          '    http-request set-var(txn.session) lua.session_of_cookie',
        ]),
    ...kept,
    ...(secure === null
      ? [
          '    acl secure ssl_fc',
          '    acl secure var(txn.secure) -m found',
          set('', ' !secure'),
          set('; Secure', ' secure'),
        ]
      : [set(secure ? '; Secure' : '')]),
    // Caches must not give the cookie to other clients.
    '    http-response add-header Cache-Control private if !kept',
  ]
}

/** Clients that a backend remembers, of about 150 bytes each. Beyond it the one that was seen first is forgotten. */
const MOST_KEPT_CLIENTS = 8192

/**
 * The rules of a backend that remembers the server of a client's address. The first choice is the hash, which is the
 * same on other nodes and in later processes. A client whose server is down gets another one.
 */
export const keptClientRules = (keepSeconds: number | undefined): readonly string[] =>
  keepSeconds === undefined
    ? []
    : [`    stick-table type ipv6 size ${MOST_KEPT_CLIENTS} expire ${keepSeconds}s`, '    stick on src']

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const

/** RFC 6265 section 4.1.2, and SameSite of its successor. */
const wordsOf = ({ path, sameSite, maxAgeSeconds }: CookieAttributes): string =>
  [
    `; Path=${textOf(path) ?? '/'}; HttpOnly`,
    ...(maxAgeSeconds === undefined ? [] : [`; Max-Age=${maxAgeSeconds}`]),
    ...(sameSite === undefined ? [] : [`; SameSite=${SAME_SITE[sameSite]}`]),
  ].join('')

/** An expression for a text that is in hexadecimal. */
const textOf = (hex: string | undefined): string | undefined =>
  hex === undefined ? undefined : `%[str(${Buffer.from(hex, 'hex').toString('base64url')}),ub64dec]`
