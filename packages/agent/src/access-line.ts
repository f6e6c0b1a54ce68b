import type { CarriedRequest } from '@spout/dataplane'
import {
  ACCESS_LOG_FIELDS,
  type AccessLogField,
  parseAccessLogFormat,
  templateOf,
} from '@spout/model/access-log-format'

/** Formats a request as a line without a line end. The line is printable ASCII, whatever the client sent. */
export type LineOf = (request: CarriedRequest, poolId: string | null) => string

type Value = string | number | null

/**
 * @param format a format that the control plane has checked. If a later version made it and it is unknown here, lines
 * are JSON
 */
export function lineOf(format: string): LineOf {
  const template = templateOf(format)
  const parts = template === null ? null : parseAccessLogFormat(template)
  if (parts === null || typeof parts === 'string') return jsonLine
  return (request, poolId) => {
    const values = valuesOf(request, poolId)
    return parts.map((part) => (typeof part === 'string' ? part : textOf(values[part.field]))).join('')
  }
}

/** All fields as JSON, in ASCII. */
const jsonLine: LineOf = (request, poolId) => {
  const values = valuesOf(request, poolId)
  const fields = ACCESS_LOG_FIELDS.flatMap((field) => (values[field] === null ? [] : [[field, values[field]]]))
  // Everything outside ASCII is escaped, since terminals also interpret control characters above U+007F.
  return JSON.stringify(Object.fromEntries(fields)).replace(
    /[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Escapes quotes, backslashes and unprintable characters, as nginx does. */
const textOf = (value: Value): string =>
  value === null
    ? '-'
    : String(value).replace(
        /["\\]|[^ -~]/g,
        (one) => `\\x${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
      )

const valuesOf = (request: CarriedRequest, pool: string | null): Readonly<Record<AccessLogField, Value>> => ({
  time: new Date(request.endedAtUs / 1000).toISOString(),
  listener: request.listenerId,
  client: request.client.address,
  'client-port': request.client.port,
  vip: request.vip.address,
  'vip-port': request.vip.port,
  method: request.http?.method ?? null,
  uri: request.http?.uri ?? null,
  version: request.http?.version ?? null,
  host: request.http?.host ?? null,
  status: request.status,
  'bytes-in': request.bytesIn,
  'bytes-out': request.bytesOut,
  'duration-us': request.durationUs,
  'wait-ms': request.waitedMs,
  pool,
  member: request.member?.address ?? null,
  'member-port': request.member?.port ?? null,
  'user-agent': request.http?.userAgent ?? null,
  referer: request.http?.referer ?? null,
  'tls-version': request.tlsVersion,
  sni: request.serverName,
  ending: request.ending,
})
