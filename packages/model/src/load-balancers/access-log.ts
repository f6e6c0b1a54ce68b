import { z } from 'zod'
import { hostText } from '../routes/route-condition.ts'
import { endpointIpText, port, uuid } from '../scalars/scalars.ts'
import { JSON_FORMAT, whyNoFormat } from './access-log-format.ts'

/**
 * UDP: a datagram for each line (RFC 5426). TCP: each with its length before it (RFC 6587, octet counting). TLS: the
 * same over TLS (RFC 5425), usually to port 6514.
 */
export const SYSLOG_TRANSPORTS = ['udp', 'tcp', 'tls'] as const

/** How a receiver is known over TLS, and we by it. */
export const syslogTls = z.strictObject({
  /** A certificate without a key: the authorities that the receiver's must be from. */
  caCertificateId: uuid,
  /** The name that it must have. Null: its address. */
  serverName: hostText.nullable().default(null),
  /** Shown to a receiver that asks for one. Null: none is. */
  clientCertificateId: uuid.nullable().default(null),
})
export type SyslogTls = z.infer<typeof syslogTls>

/** A syslog receiver in the load balancer's own network. It gets messages of RFC 5424. */
export const syslogTarget = z
  .strictObject({
    address: endpointIpText,
    port: port.default(514),
    transport: z.enum(SYSLOG_TRANSPORTS).default('udp'),
    /** With transport `tls` only. */
    tls: syslogTls.optional(),
  })
  .superRefine(({ transport, tls }, context) => {
    if ((transport === 'tls') === (tls !== undefined)) return
    const message = tls === undefined ? 'is needed with transport tls' : `belongs to transport tls, not ${transport}`
    context.addIssue({ code: 'custom', path: ['tls'], message })
  })
export type SyslogTarget = z.infer<typeof syslogTarget>

/** A line for each request, or each proxied connection, in the project's own log. */
export const accessLog = z.strictObject({
  /** `json`, `common`, `combined`, or a template. */
  format: z
    .string()
    .refine((format) => whyNoFormat(format) === null, { error: ({ input }) => whyNoFormat(String(input)) ?? '' })
    .default(JSON_FORMAT),
  /** Gets the lines instead of the file of the project. Null: the file has them. */
  syslog: syslogTarget.nullable().default(null),
})
export type AccessLog = z.infer<typeof accessLog>
