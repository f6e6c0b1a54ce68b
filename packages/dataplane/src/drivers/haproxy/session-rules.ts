import type { SessionShape } from './shape.ts'

/**
 * The rules of a backend whose clients keep their server. A cookie of ours holds the server's name, so nothing is
 * remembered here, and it is worth the same on every node and after a restart. A server that is gone or down is passed
 * over, and the response gets the cookie of the new one.
 *
 * With a cookie of the application, ours is set when the members set theirs, for as long and for the same paths, and
 * counts only while the client sends theirs, too: sessions begin and end with the application's.
 */
export function sessionRules(session: SessionShape | undefined): readonly string[] {
  if (session === undefined) return []
  const { cookie, application } = session
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
  const set = (attributes: string, condition: string): string =>
    `    http-response add-header Set-Cookie "${cookie}=%[var(txn.server)]; Path=/; HttpOnly${attributes}" if !kept ${condition}`
  return [
    `    http-request set-var(txn.session) req.cook(${cookie})`,
    ...kept,
    '    acl secure ssl_fc',
    '    acl secure var(txn.secure) -m found',
    set('', '!secure'),
    set('; Secure', 'secure'),
    // Caches must not give it to others.
    '    http-response add-header Cache-Control private if !kept',
  ]
}
