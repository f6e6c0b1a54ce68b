import { answeredEarly } from '../sections/answered-early.ts'
import { isSet } from '../sections/is-set.ts'
import type { MapName } from '../sections/maps.ts'

/** A stick table of the process: how many requests each client has under way, by limit. No slot has this name. */
const CLIENTS = 'clients'

const TOO_MANY = '{ sc2_conn_cur,sub(txn.most) gt 0 }'

/**
 * Rules for routes that limit how many requests each client has at once, behind those that set `txn.limits`. A request
 * counts until its response has ended, an upgraded connection while it lasts. Clients are told apart as in
 * `clientRateRules`. Unlike those of `tcp-request`, such rules of a defaults section count.
 */
export const clientConcurrencyRules = (mapPath: (map: MapName) => string, hasLua: boolean): readonly string[] => [
  `    http-request set-var(txn.most) fe_name,concat(/,txn.limits,/at-once),map(${mapPath('limits')}) if ${isSet('limits')}`,
  `    http-request set-var(txn.client) src,ipmask(32,64) if ${isSet('most')}`,
  `    http-request set-var(txn.counter) fe_name,concat(/,txn.limits,/),concat(,txn.client) if ${isSet('most')}`,
  `    http-request track-sc2 var(txn.counter) table ${CLIENTS} if ${isSet('most')}`,
  ...(hasLua ? answeredEarly('str(503)', `${isSet('most')} ${TOO_MANY}`) : []),
  `    http-request return status 503 if ${isSet('most')} ${TOO_MANY}`,
]

/** The table has room for a client on every connection. */
export const clientTable = (maxConnections: number): readonly string[] => [
  `backend ${CLIENTS}`,
  `    stick-table type string len 127 size ${2 * maxConnections} expire 10s store conn_cur`,
]
