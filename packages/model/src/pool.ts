import { z } from 'zod'
import { healthMonitor } from './health-monitor.ts'
import { endpointIpText, ipText, metaShape, port, tags, uuid } from './scalars.ts'

/** `tcp`, `udp` and `sctp` pools are balanced per connection; `http` and `tcp-proxy` pools by the L7 proxy. */
export const POOL_PROTOCOLS = ['tcp', 'udp', 'sctp', 'http', 'tcp-proxy', 'tcp-proxy-v1', 'tcp-proxy-v2'] as const
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

/**
 * What real traffic says of a member, beside its checks: see `docs/failover.md` for what clients can do with it.
 * `connection`: connections that were refused or timed out. `response`: also answers of status 5xx, broken ones and none
 * at all, which a client may be able to provoke.
 */
export const passiveCheck = z.strictObject({
  on: z.enum(['connection', 'response']),
  /** So many failures with no success among them take the member out. */
  failures: z.number().int().min(1).max(1000),
  /** For how long at least; then a check that succeeds (`rise` times) brings it back, or without a monitor the time alone. */
  holdSeconds: z.number().int().min(1).max(3600),
  /** Never more than this share of the ordinary members (percent) is down for it, and never the last one. */
  maxDownPercent: z.number().int().min(1).max(100),
})
export type PassiveCheck = z.infer<typeof passiveCheck>

export const DEFAULT_DRAIN_S = 300

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
  /** In this time a member that comes (back) up grows to its whole share; 0 gives it all at once. */
  slowStartSeconds: z.number().int().min(0).max(3600).default(0),
  /** Established connections of a member that is removed or gets weight 0 are cut after this time; 0 cuts them at once. */
  drainSeconds: z.number().int().min(0).max(86_400).default(DEFAULT_DRAIN_S),
  /** Whether established TCP connections of a member that goes down are reset. UDP flows move in any case, SCTP associations never. */
  resetOnDown: z.boolean().default(false),
  passiveCheck: passiveCheck.nullable().default(null),
})
export type Pool = z.infer<typeof pool>

/** What a pool has when nothing is said of how its members fail. */
export const POOL_FAILURE_DEFAULTS = {
  slowStartSeconds: 0,
  drainSeconds: DEFAULT_DRAIN_S,
  resetOnDown: false,
  passiveCheck: null,
} as const
