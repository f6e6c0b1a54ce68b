import type { CarriedRequest } from '../../../contracts/driver.ts'
import type { MapName } from '../sections/maps.ts'
import type { ProxyMode } from '../sections/shape.ts'

/**
 * The log line of each request, or each proxied connection, of listeners that have a row in the map `logs`. Each line has
 * the same fields in the same order, separated by spaces. Texts of clients are in base64 and cut, so that a line always
 * fits one write to the pipe (`PIPE_BUF`, pipe(7)).
 */

/** The descriptor that a process has the pipe as. */
export const PIPE_FD = 3
/** Including the end of the line. */
const MOST_LINE_BYTES = 4_095
const MOST_URI_BYTES = 1_024
const MOST_HEADER_BYTES = 256

const header = (name: string): string => `%[req.fhdr(${name}),bytes(0,${MOST_HEADER_BYTES}),base64]`

/** Samples that exist only while the request does. */
const OF_REQUEST = [
  '%[date(0,us)]',
  '%[method,base64]',
  `%[url,bytes(0,${MOST_URI_BYTES}),base64]`,
  '%[req.ver]',
  header('host'),
  header('user-agent'),
  header('referer'),
]

/** Without a row no line is made. The first rule of an HTTP frontend, since a condition would cost more than it. */
export const QUIET = '    http-request set-log-level silent'

/** Rules before those that change the request's target or the headers that lines have. */
export const requestRules = (mapPath: (map: MapName) => string): readonly string[] => [
  `    http-request set-var-fmt(txn.line) "${OF_REQUEST.join(' ')}" if { fe_name,map(${mapPath('logs')}) -m found }`,
  '    http-request set-log-level info if { var(txn.line) -m found }',
]

/** 2.6 evaluates no such rule of a defaults section unless the frontend has one of the same kind. */
export const connectionLineRule = (mapPath: (map: MapName) => string): string =>
  `    tcp-request content set-log-level silent unless { fe_name,map(${mapPath('logs')}) -m found }`

/** For the defaults of frontends. A line for which the pipe has no room is dropped and counted (`DroppedLogs`). */
export const lineFormat = (mode: ProxyMode, mapPath: (map: MapName) => string): readonly string[] => [
  `    log fd@${PIPE_FD} len ${MOST_LINE_BYTES} format raw local0`,
  `    log-format "${[
    `%[fe_name,map(${mapPath('logs')})]`,
    '%[date(0,us)]',
    ...['%ci', '%cp', '%fi', '%fp', '%b'],
    mode === 'http' ? '%[var(txn.passed),field(1,/)]' : '-',
    mode === 'http' ? '%[var(txn.route)]' : '-',
    ...['%si', '%sp', mode === 'http' ? '%ST' : '-', '%U', '%B'],
    mode === 'http' ? '%Tr' : '%Tc',
    '%Tt',
    '%ts',
    '%sslv',
    '%[ssl_fc_sni,base64]',
    mode === 'http' ? '%[var(txn.line)]' : '-',
  ].join(' ')}"`,
]

/** A request as the proxy logs it: it knows slots, no pools. */
export type RequestLine = Omit<CarriedRequest, 'pool'> & { readonly backendSlot: number | null }

/** Parses a line without its end. Null for a line that is cut, or belongs to another listener. */
export function parseRequestLine(line: string): RequestLine | null {
  const [listenerId = '-', ended, client, clientPort, vip, port, backend = '', passed = '', route, ...rest] =
    line.split(' ')
  const [member, memberPort, status, bytesIn, bytesOut, waited, total, ending = '', tls, name, ...request] = rest
  const endedAtUs = numberOf(ended)
  const address = textOf(client)
  if (listenerId === '-' || endedAtUs === null || address === null || name === undefined) return null
  const [begun, method, uri, version, host, userAgent, referer] = request
  const startedAtUs = numberOf(begun)
  const totalMs = status === '-' ? numberOf(total) : null
  const ofConnection = totalMs === null ? null : totalMs * 1000
  return {
    listenerId,
    endedAtUs,
    durationUs: startedAtUs === null ? ofConnection : Math.max(0, endedAtUs - startedAtUs),
    waitedMs: numberOf(waited),
    client: { address, port: numberOf(clientPort) ?? 0 },
    vip: { address: textOf(vip) ?? '', port: numberOf(port) ?? 0 },
    backendSlot: slotOf(passed) ?? slotOf(backend),
    routeId: textOf(route),
    member: memberOf(textOf(member), numberOf(memberPort)),
    status: numberOf(status),
    bytesIn: numberOf(bytesIn) ?? 0,
    bytesOut: numberOf(bytesOut) ?? 0,
    ending,
    tlsVersion: textOf(tls),
    serverName: decoded(name),
    http:
      method === undefined || startedAtUs === null
        ? null
        : {
            method: decoded(method) ?? '',
            uri: decoded(uri) ?? '',
            version: textOf(version) ?? '',
            host: decoded(host),
            userAgent: decoded(userAgent),
            referer: decoded(referer),
          },
  }
}

const textOf = (field: string | undefined): string | null =>
  field === undefined || field === '' || field === '-' ? null : field

/** Null for `-1` and `-`, which mean that something did not happen. */
const numberOf = (field: string | undefined): number | null =>
  field !== undefined && /^\+?[0-9]{1,16}$/.test(field) ? Number(field) : null

/** Clients write bytes: each becomes one character. */
const decoded = (field: string | undefined): string | null => {
  const text = textOf(field)
  return text === null ? null : Buffer.from(text, 'base64').toString('latin1')
}

const slotOf = (name: string): number | null => (/^b[0-9]+$/.test(name) ? Number(name.slice(1)) : null)

const memberOf = (address: string | null, port: number | null): CarriedRequest['member'] =>
  address === null || port === null || port === 0 || !/^[0-9a-fA-F:.]+$/.test(address) ? null : { address, port }
