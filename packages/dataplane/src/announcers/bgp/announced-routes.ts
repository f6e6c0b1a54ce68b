import type { BgpSettings } from '@spout/model/node-state'
import { formatCidr, hostCidr, ipBits, parseCidr, parseIp } from '@spout/net'
import type { Route } from '@spout/sys'
import type { Announcement } from '../../contracts/announcer.ts'

/** A route of the kernel that announcements want. */
export interface WantedRoute {
  readonly table: number
  readonly to: string
  readonly type: 'blackhole' | 'local'
  readonly metric: number
}

const MAIN_TABLE = 254
const LOCAL_TABLE = 255
/** Tells our routes in tables that are not ours alone. Any other route to the same prefix goes ahead of it. */
const OUR_METRIC = 2_147_418_112

/**
 * The routes that announce an address, or why it cannot be announced:
 * - in our table the address, or the prefix that is announced in its place, with the advertisement's number as metric:
 *   the routing daemon learns it from there;
 * - the address is local, so that what no rule brings into a domain is answered here and never goes back to the router;
 * - an announced prefix discards what has no better route (RFC 4632 section 5.1), for the same reason.
 */
export function routesOf(
  { address, scope, by }: Announcement,
  settings: BgpSettings | null,
  table: number,
): { readonly routes: readonly WantedRoute[] } | { readonly error: string } {
  if (settings === null) return { error: 'BGP is not configured on this node' }
  if (by.via !== 'bgp') return { error: `it is to be announced by ${by.via}` }
  if (scope !== 'fabric') return { error: 'BGP announces addresses of the fabric alone' }
  const advertisement = settings.advertisements.find(({ number }) => number === by.advertisement)
  if (advertisement === undefined) return { error: `there is no advertisement ${by.advertisement}` }
  const ip = parseIp(address)
  const host = formatCidr(hostCidr(ip))
  const length = ip.version === 4 ? advertisement.aggregateLength4 : advertisement.aggregateLength6
  const announced =
    length === null || length === ipBits(ip.version) ? host : formatCidr(parseCidr(`${address}/${length}`, 'clear'))
  return {
    routes: [
      { table: LOCAL_TABLE, to: host, type: 'local', metric: OUR_METRIC },
      ...(announced === host
        ? []
        : [{ table: MAIN_TABLE, to: announced, type: 'blackhole', metric: OUR_METRIC } as const]),
      { table, to: announced, type: 'blackhole', metric: by.advertisement },
    ],
  }
}

/** Tables in which our routes are. */
export const tablesOf = (table: number): readonly number[] => [table, MAIN_TABLE, LOCAL_TABLE]

/** The route as one that announcements want; null when it is none of ours. */
export function asWanted(route: Route, at: number, table: number): WantedRoute | null {
  const { to, metric, type } = route
  if (at === table) return { table: at, to, type: 'blackhole', metric }
  if (metric !== OUR_METRIC) return null
  if (at === LOCAL_TABLE) return type === 'local' ? { table: at, to, type, metric } : null
  return type === 'blackhole' ? { table: at, to, type, metric } : null
}
