import { sizeRules } from '../rendering/request-sizes.ts'
import { QUIET, requestRules } from '../requests/request-lines.ts'
import { routeRules } from '../routes/route-rules.ts'
import { clientHeaderRules } from '../sections/client-headers.ts'
import type { MapName } from '../sections/maps.ts'
import type { Forwarded, FrontendShape } from '../sections/shape.ts'
import { separateHostsRules } from './separate-hosts-rules.ts'

/**
 * Frontend rules are the same for all slots of a kind. Setting a header replaces all lines of that name that the client
 * sent. `X_Forwarded_For` is the same header to CGI-like servers, so it is removed too. A `Connection` header could
 * name ours as hop-by-hop, so that the member drops it (RFC 9110 section 7.6.1).
 */
const HEADERS: Readonly<Record<Forwarded, readonly string[]>> = {
  for: ['    http-request del-header X_Forwarded_For', '    http-request set-header X-Forwarded-For %[src]'],
  // Connections keep their original destination address and port.
  port: ['    http-request del-header X_Forwarded_Port', '    http-request set-header X-Forwarded-Port %[dst_port]'],
  // %[ssl_fc] would cost every request.
  proto: ['    http-request del-header X_Forwarded_Proto', '    http-request set-header X-Forwarded-Proto http'],
}
const PROTO_OF_TLS = HEADERS.proto.map((line) => line.replace(/http$/, 'https'))
const CONNECTION = [
  '    http-request set-header Connection upgrade if { req.hdr(upgrade) -m found }',
  '    http-request del-header Connection unless { req.hdr(upgrade) -m found }',
]

/** Replaces what the member says. RFC 6797, 6.1. */
const hstsRule = (mapPath: HttpRuleSettings['mapPath']): string => {
  const value = `fe_name,map(${mapPath('hsts')})`
  return `    http-after-response set-header Strict-Transport-Security %[${value},ub64dec] if { ${value} -m found }`
}

interface HttpRuleSettings {
  readonly mapPath: (map: MapName) => string
  /** The Lua programs to load; none for a build without Lua. */
  readonly luaPrograms: readonly string[]
}

/**
 * The rules of an HTTP frontend. A request that needs no more than the backend of its listener skips those for routes
 * and log lines: what a listener does not use costs it the one lookup that says so.
 */
export function httpRules(
  { forwarded, told = [], tls, sizes }: FrontendShape,
  { mapPath, luaPrograms }: HttpRuleSettings,
): readonly string[] {
  const canTest = luaPrograms.length > 0
  const separate = tls?.separate && canTest ? separateHostsRules : []
  // Requests that are refused before the routes have lines, too.
  const refusesFirst = sizes !== undefined || separate.length > 0
  return [
    // A replaced process closes each connection after a response that says so, and idle ones at their time-out.
    '    option idle-close-on-response',
    QUIET,
    ...(refusesFirst ? requestRules(mapPath) : []),
    ...sizeRules(sizes),
    ...(forwarded.length + told.length > 0 ? CONNECTION : []),
    ...forwarded.flatMap((each) => (each === 'proto' && tls !== undefined ? PROTO_OF_TLS : HEADERS[each])),
    ...told.flatMap(clientHeaderRules),
    ...separate,
    `    http-request allow unless { fe_name,map(${mapPath('extras')}) -m found }`,
    ...(refusesFirst ? [] : requestRules(mapPath)),
    ...routeRules(mapPath, canTest),
    ...(tls === undefined ? [] : [hstsRule(mapPath)]),
  ]
}
