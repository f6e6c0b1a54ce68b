import { isSet } from '../sections/is-set.ts'
import type { MapName } from '../sections/maps.ts'
import { unreadRules } from '../sections/source-share.ts'

/** Answers 413, and reads some of the rest: many clients read the answer only after they have sent the body. */
const REFUSED = '    http-request use-service lua.too_large'

/**
 * Rules for routes that limit bodies, after the rules that set `txn.limits`. A body with a declared length is refused
 * by that length, and one that has arrived as a whole by its size. Any other (chunked, or HTTP/2 without a length) goes
 * through a relay that counts it. `hdr_val` is of no use, since it has 32 bits.
 */
export const bodyLimitRules = (mapPath: (map: MapName) => string): readonly string[] => [
  `    http-request set-var(txn.body) fe_name,concat(/,txn.limits,/body),map(${mapPath('limits')}) if ${isSet('limits')}`,
  `    http-request set-var(txn.length) req.fhdr(content-length) if ${isSet('body')}`,
  `    http-request set-var(txn.counted) bool(true) if ${isSet('body')} !${isSet('length')} !{ internal.htx.has_eom }`,
  `    http-request set-var(txn.length) req.body_len if ${isSet('body')} !${isSet('length')} !${isSet('counted')}`,
  `    http-request set-var(txn.large) bool(true) if ${isSet('length')} { var(txn.length),sub(txn.body) gt 0 }`,
  // Filters change only responses of members.
  `    http-request unset-var(txn.filter) if ${isSet('large')}`,
  ...unreadRules(isSet('large')),
  `${REFUSED} if ${isSet('large')}`,
]

/** Whether the relay counts the body. */
export const isCounted = isSet('counted')

/**
 * Rules of the frontend that counts. The limit is in `txn.body`. When a body is too long, the filter makes HAProxy
 * answer 400, which becomes 413 here.
 */
export const countedRules: readonly string[] = [
  '    filter lua.count_body',
  '    http-error status 400',
  '    http-response set-var(txn.answered) bool(true)',
  `    http-after-response set-status 413 if ${isSet('over')} !${isSet('answered')}`,
]
