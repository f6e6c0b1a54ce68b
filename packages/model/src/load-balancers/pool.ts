import { z } from 'zod'
import { healthMonitor } from '../health-checks/health-monitor.ts'
import { hostText } from '../routes/route-condition.ts'
import { endpointIpText, ipText, metaShape, port, tags, uuid } from '../scalars/scalars.ts'
import { clientNetworks } from './client-networks.ts'
import { cipherList, listenerTls } from './listener.ts'
import { cookieName, sessionCookie } from './session-cookie.ts'

/** `tcp`, `udp` and `sctp` pools are balanced per connection, `http` and `tcp-proxy` pools by the L7 proxy. */
export const POOL_PROTOCOLS = ['tcp', 'udp', 'sctp', 'http', 'tcp-proxy', 'tcp-proxy-v1', 'tcp-proxy-v2'] as const
export const ALGORITHMS = ['round-robin', 'least-connections', 'source-ip', 'source-ip-port'] as const

const writtenAddress = z.string().regex(/^[0-9a-fA-F:.]{2,45}$/, 'is not an address')

export const member = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  address: endpointIpText,
  /**
   * The addresses as the client wrote them, for clients that compare texts. Absent: the client wrote the canonical
   * text.
   */
  addressText: writtenAddress.optional(),
  monitorAddressText: writtenAddress.optional(),
  port,
  /** The tenant subnet that the client named for the address; null if none. */
  subnetId: uuid.nullable(),
  /**
   * Share of new connections relative to the other members. 0: it gets none, and keeps existing ones for
   * `drainSeconds`.
   */
  weight: z.number().int().min(0).max(256),
  /** Used only when every ordinary member is down. */
  backup: z.boolean(),
  monitorAddress: ipText.nullable(),
  monitorPort: port.nullable(),
})
export type Member = z.infer<typeof member>

/**
 * How a client is recognised, so that it keeps its member: by its address, by a cookie that the proxy adds to
 * responses, or by a cookie that the members set (RFC 6265). Cookies are for pools behind HTTP listeners.
 */
export const sessionPersistence = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('source-ip'),
      /**
       * How long a client keeps its member after its last new connection, even when new members join. Null: as long as
       * the hash of its address selects that member.
       */
      timeoutSeconds: z.number().int().min(1).max(86_400).nullable().default(null),
      /**
       * For pools that are balanced per connection: the addresses of one such network count as one client. Absent: each
       * address is a client. Earlier versions do not know the field.
       */
      networks: clientNetworks.optional(),
    }),
    z.strictObject({
      type: z.literal('cookie'),
      /** Attributes of the cookie. Absent: the proxy's defaults. Earlier versions do not know the field. */
      cookie: sessionCookie.optional(),
    }),
    z.strictObject({ type: z.literal('application-cookie'), cookieName }),
  ],
  { error: 'must be one of source-ip, cookie, application-cookie' },
)

/**
 * Passive health checks on real traffic, beside a monitor. `docs/failover.md` says what clients can provoke with them.
 * `connection` counts refused and timed-out connections. `response` also counts status 5xx and broken or missing
 * answers, which a client may be able to provoke.
 */
export const passiveCheck = z.strictObject({
  on: z.enum(['connection', 'response']),
  /** How many failures in a row take the member down. */
  failures: z.number().int().min(1).max(1000),
  /**
   * How long the member stays down at least. After that `rise` successful checks bring it back, or the time alone
   * without a monitor.
   */
  holdSeconds: z.number().int().min(1).max(3600),
  /** Passive checks take down at most this percentage of the ordinary members, and never the last one. */
  maxDownPercent: z.number().int().min(1).max(100),
})
export type PassiveCheck = z.infer<typeof passiveCheck>

/** How the proxy connects to members with TLS. */
export const poolTls = z.strictObject({
  /**
   * The authorities that must have issued members' certificates: a certificate object without a key. Null: any is
   * accepted.
   */
  caCertificateId: uuid.nullable().default(null),
  /**
   * The certificates that these authorities revoked: one list of each authority, intermediate ones included. Absent:
   * revocation is not checked. Earlier versions do not know the field.
   */
  crlCertificateId: uuid.optional(),
  /**
   * The server name that members are asked for (SNI, RFC 6066 section 3) and that their certificates must have. Null:
   * the server name that the client sent to the listener, if any.
   */
  serverName: hostText.nullable().default(null),
  /** Presented to members that ask for a certificate. Null: none. */
  clientCertificateId: uuid.nullable().default(null),
  minVersion: listenerTls.shape.minVersion,
  /** As for listeners. Absent: the defaults. Earlier versions do not know the field. */
  ciphers: cipherList.optional(),
  /** Application protocols to offer (ALPN, RFC 7301), in order of preference. Only for pools that carry HTTP. */
  alpn: listenerTls.shape.alpn,
})
export type PoolTls = z.infer<typeof poolTls>

export const DEFAULT_DRAIN_S = 300

/** Limit of members per pool. */
export const MOST_POOL_MEMBERS = 10_000

export const pool = z.strictObject({
  ...metaShape,
  tags,
  enabled: z.boolean(),
  protocol: z.enum(POOL_PROTOCOLS),
  algorithm: z.enum(ALGORITHMS),
  persistence: sessionPersistence.nullable(),
  members: z.array(member).max(MOST_POOL_MEMBERS),
  monitor: healthMonitor.nullable(),
  /**
   * If less than this percentage of the members is healthy, health is ignored: a mass failure is more likely a fault of
   * the check. 0: health is never ignored.
   */
  panicThreshold: z.number().int().min(0).max(100),
  /** A member that comes up reaches its full share gradually over this time. 0: at once. */
  slowStartSeconds: z.number().int().min(0).max(3600).default(0),
  /**
   * Established connections of a member that is removed or gets weight 0 are ended after this time. 0: at once.
   */
  drainSeconds: z.number().int().min(0).max(86_400).default(DEFAULT_DRAIN_S),
  /**
   * Whether established TCP connections of a member that goes down are reset. UDP flows always move, SCTP associations
   * never.
   */
  resetOnDown: z.boolean().default(false),
  passiveCheck: passiveCheck.nullable().default(null),
  /**
   * For pools behind the proxy. Absent: connections to members do not use TLS. Earlier versions refuse a pool with a
   * field that they do not know, so the field is left out where it is not needed: such pools are readable after a
   * downgrade.
   */
  tls: poolTls.optional(),
  /**
   * For `http` pools without `tls`: the proxy speaks HTTP/2 with members from the first byte (RFC 9113 section 3.3), as
   * gRPC needs. Absent: HTTP/1.1. Earlier versions do not know the field.
   */
  http2: z.literal(true).optional(),
  /**
   * For pools that are balanced per connection: this percentage of new connections is refused, and the members share
   * the rest. Absent: none is refused. Earlier versions do not know the field.
   */
  refusedPercent: z.number().positive().max(100).optional(),
})
export type Pool = z.infer<typeof pool>

/** The defaults of a pool's settings for members that fail, return or leave. */
export const POOL_FAILURE_DEFAULTS = {
  slowStartSeconds: 0,
  drainSeconds: DEFAULT_DRAIN_S,
  resetOnDown: false,
  passiveCheck: null,
} as const
