import { CLIENT_CERTIFICATE_HEADERS, type INSERT_HEADERS, LISTENER_DEFAULTS, type Listener } from '@spout/model'
import type { OctaviaListener } from '../terms/octavia-resources.ts'
import { HTTP_HEADERS, isOneOf, type ListenerProtocol, SSL_HEADERS } from '../terms/words.ts'
import { invalidOption, unsupportedOption, validationFailure } from '../wire/fault.ts'

/** A listener's protocol in Octavia unless an annotation names another. */
export const PLAIN_LISTENER_PROTOCOL = {
  tcp: 'TCP',
  udp: 'UDP',
  sctp: 'SCTP',
  http: 'HTTP',
  https: 'TERMINATED_HTTPS',
  'tcp-proxy': 'TCP',
  tls: 'TERMINATED_HTTPS',
  'tls-passthrough': 'HTTPS',
  metrics: 'PROMETHEUS',
} as const satisfies Record<Listener['protocol'], ListenerProtocol>

/** Ours are Octavia's. */
export const DEFAULT_TIMEOUTS = LISTENER_DEFAULTS.timeouts

export const hasDefaultTimeouts = ({ timeouts }: Listener): boolean =>
  timeouts.clientMs === DEFAULT_TIMEOUTS.clientMs &&
  timeouts.connectMs === DEFAULT_TIMEOUTS.connectMs &&
  timeouts.memberMs === DEFAULT_TIMEOUTS.memberMs &&
  timeouts.inspectMs === DEFAULT_TIMEOUTS.inspectMs

type InsertHeader = (typeof INSERT_HEADERS)[number]
const OFFERED_HEADERS: Readonly<Record<string, InsertHeader>> = {
  'X-Forwarded-For': 'x-forwarded-for',
  'X-Forwarded-Port': 'x-forwarded-port',
  'X-Forwarded-Proto': 'x-forwarded-proto',
  'X-Real-IP': 'x-real-ip',
  ...Object.fromEntries(
    SSL_HEADERS.map((name) => [name, CLIENT_CERTIFICATE_HEADERS.find((one) => one === name.toLowerCase())!]),
  ),
}
const WIRE_HEADER = Object.fromEntries(
  Object.entries(OFFERED_HEADERS).map(([name, header]) => [header, name]),
) as Readonly<Record<InsertHeader, string>>

/** @param off names of headers that the client set to "false" */
export const unfoldHeaders = (
  headers: Listener['insertHeaders'],
  off: readonly string[],
): ReadonlyMap<string, string> =>
  new Map([
    ...headers.map((header): [string, string] => [WIRE_HEADER[header], 'true']),
    ...off.map((name): [string, string] => [name, 'false']),
  ])

/** @throws OctaviaFault for headers that the protocol does not allow or that are not offered here */
export function foldHeaders({ protocol, insertHeaders }: OctaviaListener): Listener['insertHeaders'] {
  const names = [...insertHeaders.keys()]
  if (names.length === 0) return []
  if (protocol === 'UDP' || protocol === 'SCTP')
    throw validationFailure(`${protocol} protocol listener does not support TLS or header insertion.`)
  if (protocol !== 'HTTP' && protocol !== 'TERMINATED_HTTPS')
    throw invalidOption('insert-headers', `a ${protocol} protocol listener.`)
  const listed = (some: readonly string[]) => `[${some.map((name) => `'${name}'`).join(', ')}]`
  const unknown = names.filter((name) => !isOneOf([...HTTP_HEADERS, ...SSL_HEADERS])(name))
  if (unknown.length > 0) throw invalidOption(listed(names), 'insert_headers')
  const tlsOnly = names.filter(isOneOf(SSL_HEADERS))
  if (protocol !== 'TERMINATED_HTTPS' && tlsOnly.length > 0)
    throw invalidOption(listed(tlsOnly), `${protocol} protocol listener.`)
  return [...insertHeaders].flatMap(([name, value]) => {
    const word = value.toLowerCase()
    if (word !== 'true' && word !== 'false') throw invalidOption(value, `insert_headers ${name}`)
    const header = OFFERED_HEADERS[name]
    if (header === undefined)
      throw unsupportedOption(
        `insert_headers ${name}: X-Forwarded-For, -Port and -Proto, X-Real-IP and X-SSL-* are inserted here`,
      )
    return word === 'true' ? [header] : []
  })
}

/** The headers that were set to "false". */
export const headersOff = (listener: OctaviaListener): readonly string[] =>
  [...listener.insertHeaders].flatMap(([name, value]) => (value.toLowerCase() === 'false' ? [name] : []))
