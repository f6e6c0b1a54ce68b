import { z } from 'zod'
import { healthMonitor } from './health-monitor.ts'
import { endpointIpText, ipText, metaShape, port, tags, uuid } from './scalars.ts'

/** `tcp` and `udp` pools are balanced per connection; `http` and `tcp-proxy` pools by the L7 proxy. */
export const POOL_PROTOCOLS = ['tcp', 'udp', 'http', 'tcp-proxy', 'tcp-proxy-v1', 'tcp-proxy-v2'] as const
export const ALGORITHMS = ['round-robin', 'least-connections', 'source-ip', 'source-ip-port'] as const

export const member = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  address: endpointIpText,
  port,
  /** The tenant subnet the address was checked against, when the client named one. */
  subnetId: uuid.nullable(),
  /** Share of new connections relative to the other members; 0 takes none but keeps what it has. */
  weight: z.number().int().min(0).max(256),
  /** Used only when every ordinary member is down. */
  backup: z.boolean(),
  monitorAddress: ipText.nullable(),
  monitorPort: port.nullable(),
})
export type Member = z.infer<typeof member>

/** Which client keeps its member, and how it is recognised. */
export const sessionPersistence = z.strictObject({
  type: z.enum(['source-ip']),
  timeoutSeconds: z.number().int().min(1).max(86_400).nullable(),
})

export const pool = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(POOL_PROTOCOLS),
  algorithm: z.enum(ALGORITHMS),
  persistence: sessionPersistence.nullable(),
  members: z.array(member).max(10_000),
  monitor: healthMonitor.nullable(),
  /** Below this share of healthy members (percent) health is ignored: a mass failure is rather the check's fault. 0 never. */
  panicThreshold: z.number().int().min(0).max(100),
})
export type Pool = z.infer<typeof pool>
