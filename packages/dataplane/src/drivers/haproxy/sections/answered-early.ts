import { unreadRules } from './source-share.ts'

/**
 * Rules that come before a rule with which the proxy itself answers a request. HAProxy resets a stream of HTTP/2 that
 * is answered before its body has arrived, and the client never sees the answer. These rules read some of the body
 * first. Complete requests, and those over HTTP/1, are left to the next rule.
 * @param answer an expression: a status, then perhaps name and value of a header, with `|` between them
 */
export const answeredEarly = (answer: string, condition: string): readonly string[] => [
  `    http-request set-var(txn.early) ${answer} if ${condition} !{ internal.htx.has_eom } { fc_http_major gt 1 }`,
  // Filters change only responses of members.
  `    http-request unset-var(txn.filter) if { var(txn.early) -m found }`,
  ...unreadRules('{ var(txn.early) -m found }'),
  `    http-request use-service lua.answer_early if { var(txn.early) -m found }`,
]
