import { z } from 'zod'
import { looseCidrText, metaShape, port, tags, uuid } from './scalars.ts'

/** `tcp`, `udp` and `sctp` listeners forward connections; `http` and `tcp-proxy` listeners end them in the L7 proxy. */
export const LISTENER_PROTOCOLS = ['tcp', 'udp', 'sctp', 'http', 'tcp-proxy'] as const
export const INSERT_HEADERS = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'] as const

const timeoutMs = z.number().int().min(0).max(2_073_600_000)

export const listener = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(LISTENER_PROTOCOLS),
  port,
  /** Most simultaneous connections; null is no limit of its own. */
  connectionLimit: z.number().int().min(1).max(10_000_000).nullable(),
  defaultPoolId: uuid.nullable(),
  timeouts: z.strictObject({ clientMs: timeoutMs, connectMs: timeoutMs, memberMs: timeoutMs, inspectMs: timeoutMs }),
  insertHeaders: z.array(z.enum(INSERT_HEADERS)),
  /** Sources that may connect; null admits all, an empty list nobody. */
  allowedCidrs: z.array(looseCidrText).max(200).nullable(),
})
export type Listener = z.infer<typeof listener>

/** The transport that a listener occupies on its address: two listeners of one load balancer may share a port over different ones. */
export const transportOf = (protocol: Listener['protocol']): Transport =>
  protocol === 'udp' || protocol === 'sctp' ? protocol : 'tcp'
export type Transport = 'tcp' | 'udp' | 'sctp'
/** Whether the L7 proxy ends the connection. */
export const isProxied = (protocol: Listener['protocol']): boolean => protocol === 'http' || protocol === 'tcp-proxy'
