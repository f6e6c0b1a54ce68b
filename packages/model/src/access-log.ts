import { z } from 'zod'
import { JSON_FORMAT, whyNoFormat } from './access-log-format.ts'
import { endpointIpText, port } from './scalars.ts'

/** UDP: a datagram for each line (RFC 5426). TCP: each with its length before it (RFC 6587, octet counting). */
export const SYSLOG_TRANSPORTS = ['udp', 'tcp'] as const

/** A syslog receiver in the load balancer's own network. It gets messages of RFC 5424. */
export const syslogTarget = z.strictObject({
  address: endpointIpText,
  port: port.default(514),
  transport: z.enum(SYSLOG_TRANSPORTS).default('udp'),
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
