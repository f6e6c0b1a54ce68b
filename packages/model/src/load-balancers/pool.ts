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
  /** The addresses as their client wrote them, for clients that compare texts. Absent: as the canonical text. */
  addressText: writtenAddress.optional(),
  monitorAddressText: writtenAddress.optional(),
  port,
  /** The tenant subnet that the client named for the address; null if none. */
  subnetId: uuid.nullable(),
  /** Share of new connections relative to the other members. 0 gets none and keeps existing ones. */
  weight: z.number().int().min(0).max(256),
  /** Used only when every ordinary member is down. */
  backup: z.boolean(),
  monitorAddress: ipText.nullable(),
  monitorPort: port.nullable(),
})
export type Member = z.infer<typeof member>

/**
 * Which clients stay with their member, and how they are recognised: by their address, by a cookie that the proxy adds
 * to responses, or by a cookie that the members set (RFC 6265). Cookies are for pools behind HTTP listeners.
 */
export const sessionPersistence = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('source-ip'),
      /**
       * How long a client keeps its member after its last new connection, also while others come. Null: as long as the
       * hash of its address leads there.
       */
      timeoutSeconds: z.number().int().min(1).max(86_400).nullable().default(null),
      /**
       * Of pools that are balanced per connection: clients of one such network are one client. Absent: each address is
       * one; earlier versions do not know the field.
       */
      networks: clientNetworks.optional(),
    }),
    z.strictObject({
      type: z.literal('cookie'),
      /** Absent: as the proxy makes it; earlier versions do not know the field. */
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
  /** How long at least. Then `rise` successful checks bring it back; without a monitor, the time alone does. */
  holdSeconds: z.number().int().min(1).max(3600),
  /** At most this share of the ordinary members (percent) is taken down, and never the last one. */
  maxDownPercent: z.number().int().min(1).max(100),
})
export type PassiveCheck = z.infer<typeof passiveCheck>

/** How the proxy speaks TLS with members. */
export const poolTls = z.strictObject({
  /** A certificate without a key: the authorities that members' certificates must be from. Null: any is accepted. */
  caCertificateId: uuid.nullable().default(null),
  /**
   * The lists of what these authorities revoked: one of each authority, also of those between. Absent: nothing is
   * looked up; earlier versions do not know the field.
   */
  crlCertificateId: uuid.optional(),
  /**
   * The name that members are asked for (SNI, RFC 6066 section 3), and that their certificates must have. Null: the
   * name that the client asked the listener for, if it did.
   */
  serverName: hostText.nullable().default(null),
  /** Shown to members that ask for a certificate. */
  clientCertificateId: uuid.nullable().default(null),
  minVersion: listenerTls.shape.minVersion,
  /** As for listeners. Absent: the defaults; earlier versions do not know the field. */
  ciphers: cipherList.optional(),
  /** Application protocols that are offered (ALPN, RFC 7301), by preference; to pools that carry HTTP alone. */
  alpn: listenerTls.shape.alpn,
})
export type PoolTls = z.infer<typeof poolTls>

export const DEFAULT_DRAIN_S = 300

/** Members of one pool. */
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
   * With less than this share of healthy members (percent) health is ignored: a mass failure is more likely a fault of
   * the check. 0 never ignores it.
   */
  panicThreshold: z.number().int().min(0).max(100),
  /** A member that comes up gets its whole share gradually over this time. 0 gives it all at once. */
  slowStartSeconds: z.number().int().min(0).max(3600).default(0),
  /**
   * Established connections of a member that is removed or gets weight 0 are cut after this time. 0 cuts them at once.
   */
  drainSeconds: z.number().int().min(0).max(86_400).default(DEFAULT_DRAIN_S),
  /**
   * Whether established TCP connections of a member that goes down are reset. UDP flows always move, SCTP associations
   * never.
   */
  resetOnDown: z.boolean().default(false),
  passiveCheck: passiveCheck.nullable().default(null),
  /**
   * Of pools behind the proxy. Absent: members are not spoken to with TLS. Earlier versions refuse a pool with a field
   * that they do not know, so that one without TLS can be read after a downgrade.
   */
  tls: poolTls.optional(),
  /**
   * Of `http` pools without `tls`: members are spoken to in HTTP/2 from the first byte (RFC 9113, 3.3), as gRPC needs.
   * Absent: in HTTP/1.1; earlier versions do not know the field.
   */
  http2: z.literal(true).optional(),
  /**
   * Of pools that are balanced per connection: this part of new connections is refused, and the members share the rest.
   * Absent: none is refused; earlier versions do not know the field.
   */
  refusedPercent: z.number().positive().max(100).optional(),
})
export type Pool = z.infer<typeof pool>

/** How a pool treats failing members unless it says otherwise. */
export const POOL_FAILURE_DEFAULTS = {
  slowStartSeconds: 0,
  drainSeconds: DEFAULT_DRAIN_S,
  resetOnDown: false,
  passiveCheck: null,
} as const
