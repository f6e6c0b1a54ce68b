import type { CheckType } from '../health-checks/check-kinds.ts'
import type { ClientNetworks } from '../load-balancers/client-networks.ts'
import type { SessionCookie } from '../load-balancers/session-cookie.ts'
import type { Cipher } from '../scalars/ciphers.ts'
import type { NodeCertificate } from './certificate.ts'
import type { SlotTable } from './slot-table.ts'

export interface NodePool {
  /** The pool's id in the model. */
  readonly id: string
  /** 1 to 2^24-1, unique within the domain, the same on every node. Kernel keys and proxy sections contain it. */
  readonly number: number
  /** `l4`: the packet path balances by `slots`. `http`, `tcp-proxy`: the proxy balances by `algorithm`. */
  readonly mode: 'l4' | 'http' | 'tcp-proxy'
  readonly algorithm: 'round-robin' | 'least-connections' | 'source-ip' | 'source-ip-port'
  /** Whether only the source address is hashed, so that a client keeps its member. */
  readonly sourceAffinity: boolean
  /**
   * The addresses of one such network count as one client. Only with `sourceAffinity`, for pools of mode `l4`. Absent:
   * each address is a client.
   */
  readonly clientNetworks?: ClientNetworks
  /**
   * How many seconds a client keeps its member after its last new connection, even if the hash of its address selects
   * another member by then. Only with `sourceAffinity`. Absent: the hash decides for each connection.
   */
  readonly keepSeconds?: number
  /** The cookie by which a client keeps its member (pools of mode `http`). Absent: none. */
  readonly session?:
    | { readonly by: 'cookie'; readonly cookie?: SessionCookie }
    | { readonly by: 'application-cookie'; readonly cookieName: string }
  /** PROXY protocol towards members (proxied pools). */
  readonly proxyProtocol: 'none' | 'v1' | 'v2'
  /** By slot-table index. A member that left leaves a null. */
  readonly members: readonly (NodeMember | null)[]
  /** The slot table of an `l4` pool; null for proxied pools. */
  readonly slots: SlotTable | null
  /** The percentage of new connections that is refused (pools of mode `l4`). Absent: none. */
  readonly refusedPercent?: number
  readonly check: CheckSpec | null
  readonly panicThreshold: number
  /** A member that comes up reaches its full share gradually over this time. Absent: at once. */
  readonly slowStartMs?: number
  /**
   * Established flows of a member that leaves or gets weight 0 are ended after this time. Absent: `DEFAULT_DRAIN_MS`.
   */
  readonly drainMs?: number
  /** Whether established TCP flows of a member that goes down are reset. Default false. */
  readonly resetOnDown?: boolean
  /** When failures in real traffic take a member down (proxied pools). Absent: never. */
  readonly passive?: PassiveSpec
  /** How the proxy connects to members with TLS (proxied pools). Absent: without TLS. */
  readonly tls?: NodePoolTls
  /** The proxy speaks HTTP/2 without TLS with members (pools of mode `http`). Absent: HTTP/1.1. */
  readonly http2?: true
}

/** As in `ServiceTls`, certificates are named, not contained. */
export interface NodePoolTls {
  /** The authorities that must have issued members' certificates. Null: any certificate is accepted. */
  readonly authorities: NodeCertificate | null
  /** The certificates that these authorities revoked. Absent: revocation is not checked. */
  readonly revocations?: NodeCertificate
  /**
   * The server name that members are asked for and that their certificates must have. Null: the name that the client
   * sent.
   */
  readonly serverName: string | null
  /** Presented to members that ask for one. Null: none. */
  readonly certificate: NodeCertificate | null
  readonly minVersion: '1.2' | '1.3'
  /** As in `ServiceTls`. */
  readonly ciphers?: readonly Cipher[]
  /** Application protocols to offer, in order of preference. Empty: none. */
  readonly alpn: readonly ('h2' | 'http/1.1')[]
}

export const DEFAULT_DRAIN_MS = 300_000

/** Passive health checks on real traffic. `response` also counts bad answers, not only failed connections. */
export interface PassiveSpec {
  readonly on: 'connection' | 'response'
  /** How many failures in a row take a member down. */
  readonly failures: number
  /** The shortest time that the member stays down. */
  readonly holdMs: number
  /** Takes down another member only while at most this share of the ordinary members is down. */
  readonly maxDownPercent: number
}

export interface NodeMember {
  /** The member's id in the model. */
  readonly id: string
  readonly address: string
  readonly port: number
  readonly weight: number
  readonly backup: boolean
  /** The address that is probed. */
  readonly checkAddress: string
  readonly checkPort: number
}

export interface CheckSpec {
  readonly type: CheckType
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly rise: number
  readonly fall: number
  readonly http: {
    readonly method: string
    readonly path: string
    readonly expectedCodes: readonly { readonly first: number; readonly last: number }[]
    readonly version: '1.0' | '1.1'
    readonly host: string | null
  } | null
}
