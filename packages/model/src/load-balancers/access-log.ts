import { z } from 'zod'
import { hostText } from '../routes/route-condition.ts'
import { endpointIpText, port, uuid } from '../scalars/scalars.ts'
import { JSON_FORMAT, whyNoFormat } from './access-log-format.ts'

/**
 * UDP: each line is a datagram (RFC 5426). TCP: each line follows its length (RFC 6587, octet counting). TLS: the same
 * over TLS (RFC 5425), usually to port 6514.
 */
export const SYSLOG_TRANSPORTS = ['udp', 'tcp', 'tls'] as const

/** How the node and a receiver authenticate each other over TLS. */
export const syslogTls = z.strictObject({
  /** The authorities that must have issued the receiver's certificate: a certificate object without a key. */
  caCertificateId: uuid,
  /** The name that the receiver's certificate must have. Null: the receiver's address. */
  serverName: hostText.nullable().default(null),
  /** The certificate that is presented when the receiver asks for one. Null: none. */
  clientCertificateId: uuid.nullable().default(null),
})
export type SyslogTls = z.infer<typeof syslogTls>

/** A syslog receiver in the load balancer's own network. It gets messages of RFC 5424. */
export const syslogTarget = z
  .strictObject({
    address: endpointIpText,
    port: port.default(514),
    transport: z.enum(SYSLOG_TRANSPORTS).default('udp'),
    /** Required with transport `tls`, refused with others. */
    tls: syslogTls.optional(),
  })
  .superRefine(({ transport, tls }, context) => {
    if ((transport === 'tls') === (tls !== undefined)) return
    const message = tls === undefined ? 'is needed with transport tls' : `belongs to transport tls, not ${transport}`
    context.addIssue({ code: 'custom', path: ['tls'], message })
  })
export type SyslogTarget = z.infer<typeof syslogTarget>

/** An access log: a line for each request, or for each proxied connection. */
export const accessLog = z.strictObject({
  /** `json`, `common`, `combined`, or a template. */
  format: z
    .string()
    .refine((format) => whyNoFormat(format) === null, { error: ({ input }) => whyNoFormat(String(input)) ?? '' })
    .default(JSON_FORMAT),
  /** The receiver of the lines. Null: nodes write them to the project's file. */
  syslog: syslogTarget.nullable().default(null),
})
export type AccessLog = z.infer<typeof accessLog>
