import { unreadRules } from './source-share.ts'

/**
 * Rules ahead of one that answers a request here. HAProxy leaves a request that it has answered, and a stream of HTTP/2
 * that still has a body to come is reset by that, so its client never sees the answer. These read some of the body
 * first. A request that is complete, or comes over HTTP/1, is left to the rule behind.
 * @param answer an expression: a status, then perhaps name and value of a header, with `|` between them
 */
export const answeredEarly = (answer: string, condition: string): readonly string[] => [
  `    http-request set-var(txn.early) ${answer} if ${condition} !{ internal.htx.has_eom } { fc_http_major gt 1 }`,
  // Its answer is not one of a member, which filters change.
  `    http-request unset-var(txn.filter) if { var(txn.early) -m found }`,
  ...unreadRules('{ var(txn.early) -m found }'),
  `    http-request use-service lua.answer_early if { var(txn.early) -m found }`,
]
