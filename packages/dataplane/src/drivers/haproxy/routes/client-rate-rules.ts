import { answeredEarly } from '../sections/answered-early.ts'
import { isSet } from '../sections/is-set.ts'
import type { MapName } from '../sections/maps.ts'

/**
 * Rules for routes that limit the requests of each client, behind those that set `txn.limits`: `http-requests.lua` keeps
 * the buckets. A request that is refused is neither changed nor copied. Its client is told when to ask again (RFC 6585
 * section 4). An IPv6 client is its /64, which is what one subscriber has (RFC 6177).
 */
export const clientRateRules = (mapPath: (map: MapName) => string): readonly string[] => [
  `    http-request set-var(txn.rate) fe_name,concat(/,txn.limits,/rate),map(${mapPath('limits')}) if ${isSet('limits')}`,
  `    http-request set-var(txn.client) src,ipmask(32,64) if ${isSet('rate')}`,
  `    http-request lua.take_token if ${isSet('rate')}`,
  ...answeredEarly('str(429|retry-after|),concat(,txn.again)', isSet('again')),
  `    http-request return status 429 hdr retry-after %[var(txn.again)] if ${isSet('again')}`,
]
