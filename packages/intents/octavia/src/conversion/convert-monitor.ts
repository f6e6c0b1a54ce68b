import { type HealthMonitor, HTTP_METHODS, type HttpProbe, sendsRequest } from '@spout/model'
import type { OctaviaMonitor } from '../terms/octavia-resources.ts'
import type { MonitorType } from '../terms/words.ts'
import { invalidInput, invalidOption, validationFailure } from '../wire/fault.ts'

const MODEL_TYPE = {
  HTTP: 'http',
  HTTPS: 'https',
  PING: 'ping',
  SCTP: 'sctp',
  TCP: 'tcp',
  'TLS-HELLO': 'tls-hello',
  'UDP-CONNECT': 'udp',
} as const satisfies Record<MonitorType, HealthMonitor['type']>
const WIRE_TYPE = {
  http: 'HTTP',
  https: 'HTTPS',
  ping: 'PING',
  sctp: 'SCTP',
  tcp: 'TCP',
  'tls-hello': 'TLS-HELLO',
  udp: 'UDP-CONNECT',
} as const satisfies Record<HealthMonitor['type'], MonitorType>

/** Fields of a monitor that the model does not keep. */
export interface MonitorFacts {
  /** The client asked for HTTP 1.0. Without a version, null is printed. */
  readonly explicitVersion: boolean
  /** The requested delay, if it is shorter than the time-out. */
  readonly delaySeconds: number | null
}

export function unfoldMonitor(monitor: HealthMonitor, { explicitVersion, delaySeconds }: MonitorFacts): OctaviaMonitor {
  const { type, http, intervalMs, timeoutMs, ...model } = monitor
  return {
    model,
    type: WIRE_TYPE[type],
    delaySeconds: delaySeconds ?? Math.round(intervalMs / 1000),
    timeoutSeconds: Math.round(timeoutMs / 1000),
    httpMethod: http?.method ?? null,
    urlPath: http?.path ?? null,
    expectedCodes: http === null ? null : codesText(http.expectedCodes),
    httpVersion: http === null || (http.version === '1.0' && !explicitVersion) ? null : Number(http.version),
    domainName: http?.host ?? null,
  }
}

/** @throws OctaviaFault for fields that the type does not have */
export function foldMonitor(monitor: OctaviaMonitor): HealthMonitor {
  const type = MODEL_TYPE[monitor.type]
  if (!sendsRequest(type)) refuseHttpFields(monitor)
  if (monitor.domainName !== null && monitor.httpVersion === null)
    throw validationFailure("'http_version' must be specified when 'domain_name' is provided.")
  if (monitor.domainName !== null && monitor.httpVersion !== 1.1)
    throw invalidOption(
      `http_version ${monitor.httpVersion?.toFixed(1)}`,
      'health monitors HTTP 1.1 domain name health check',
    )
  return {
    ...monitor.model,
    type,
    // Octavia allows a time-out longer than the delay. Probes do not overlap, so the interval grows to hold the
    // time-out.
    intervalMs: 1000 * Math.max(monitor.delaySeconds, monitor.timeoutSeconds),
    timeoutMs: 1000 * monitor.timeoutSeconds,
    http: sendsRequest(type) ? httpProbe(monitor) : null,
  }
}

function refuseHttpFields(monitor: OctaviaMonitor): void {
  const given = {
    http_method: monitor.httpMethod,
    url_path: monitor.urlPath,
    expected_codes: monitor.expectedCodes,
    http_version: monitor.httpVersion,
    domain_name: monitor.domainName,
  }
  for (const [name, value] of Object.entries(given))
    if (value !== null) throw invalidOption(name, `health monitors of type ${monitor.type}`)
}

const httpProbe = (monitor: OctaviaMonitor): HttpProbe => ({
  method: HTTP_METHODS.find((one) => one === monitor.httpMethod) ?? 'GET',
  path: monitor.urlPath ?? '/',
  expectedCodes: codeRanges(monitor.expectedCodes ?? '200'),
  version: monitor.httpVersion === 1.1 ? '1.1' : '1.0',
  host: monitor.domainName,
})

type CodeRanges = HttpProbe['expectedCodes']

export const codesText = (ranges: CodeRanges): string =>
  ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',')

/** Parses `200`, `200, 202` or `200-204`; the table's pattern has checked the form. */
export function codeRanges(text: string): CodeRanges {
  return text.split(',').map((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    if (first < 100 || last > 599 || last < first)
      throw invalidInput('expected_codes', text, 'Value should be HTTP status codes between 100 and 599')
    return { first, last }
  })
}
