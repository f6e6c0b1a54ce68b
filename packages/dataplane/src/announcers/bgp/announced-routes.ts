import type { BgpSettings } from '@spout/model/node-state'
import { formatCidr, hostCidr, ipBits, parseCidr, parseIp } from '@spout/net'
import type { Route } from '@spout/sys'
import type { Announcement } from '../../contracts/announcer.ts'

/** A kernel route that an announcement needs. */
export interface WantedRoute {
  readonly table: number
  readonly to: string
  readonly type: 'blackhole' | 'local'
  readonly metric: number
}

const MAIN_TABLE = 254
const LOCAL_TABLE = 255
/** Identifies our routes in tables that others use too. Any other route to the same prefix is preferred. */
const OUR_METRIC = 2_147_418_112

/**
 * The routes that announce an address, or why it cannot be announced:
 * - in our table the address, or the prefix that is announced instead, with the advertisement's number as metric; the
 *   routing daemon learns it from there
 * - a local route for the address, so that packets that no rule moves into a domain are answered here and never return
 *   to the router
 * - a blackhole route for an announced prefix (RFC 4632 section 5.1), for the same reason.
 */
export function routesOf(
  { address, scope, by }: Announcement,
  settings: BgpSettings | null,
  table: number,
): { readonly routes: readonly WantedRoute[] } | { readonly error: string } {
  if (settings === null) return { error: 'BGP is not configured on this node' }
  if (by.via !== 'bgp') return { error: `the address is announced by ${by.via}, not by BGP` }
  if (scope !== 'fabric') return { error: 'BGP announces only addresses of the fabric' }
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

/** Tables that hold our routes. */
export const tablesOf = (table: number): readonly number[] => [table, MAIN_TABLE, LOCAL_TABLE]

/** Converts a kernel route to the route that an announcement needs; null if it is not ours. */
export function asWanted(route: Route, at: number, table: number): WantedRoute | null {
  const { to, metric, type } = route
  if (at === table) return { table: at, to, type: 'blackhole', metric }
  if (metric !== OUR_METRIC) return null
  if (at === LOCAL_TABLE) return type === 'local' ? { table: at, to, type, metric } : null
  return type === 'blackhole' ? { table: at, to, type, metric } : null
}
