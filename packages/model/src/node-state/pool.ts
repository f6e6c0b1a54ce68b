import type { CheckType } from '../health-checks/check-kinds.ts'
import type { ClientNetworks } from '../load-balancers/client-networks.ts'
import type { SessionCookie } from '../load-balancers/session-cookie.ts'
import type { Cipher } from '../scalars/ciphers.ts'
import type { NodeCertificate } from './certificate.ts'
import type { SlotTable } from './slot-table.ts'

export interface NodePool {
  /** The pool's id in the model. */
  readonly id: string
  /** 1 to 2^24-1, unique within the domain, the same on every node. Kernel keys and proxy sections are named by it. */
  readonly number: number
  /** `l4`: the packet path balances by `slots`. `http`, `tcp-proxy`: the proxy balances by `algorithm`. */
  readonly mode: 'l4' | 'http' | 'tcp-proxy'
  readonly algorithm: 'round-robin' | 'least-connections' | 'source-ip' | 'source-ip-port'
  /** Hash only the source address, so that a client keeps its member. */
  readonly sourceAffinity: boolean
  /**
   * Clients of one such network are one client. With `sourceAffinity` alone, of pools of mode `l4`. Absent: each address
   * is a client.
   */
  readonly clientNetworks?: ClientNetworks
  /**
   * How long a client keeps its member after its last new connection, in seconds, also where the hash of its address
   * leads elsewhere by then. With `sourceAffinity` alone. Absent: the hash decides each time.
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
  /** This part of new connections is refused (pools of mode `l4`). Absent: none is. */
  readonly refusedPercent?: number
  readonly check: CheckSpec | null
  readonly panicThreshold: number
  /** A member that comes up gets its whole share gradually over this time. Absent: at once. */
  readonly slowStartMs?: number
  /** Established flows of a member that leaves or gets weight 0 are cut after this time. Absent: `DEFAULT_DRAIN_MS`. */
  readonly drainMs?: number
  /** Resets established TCP flows of a member that goes down. Default false. */
  readonly resetOnDown?: boolean
  /** Failures in real traffic also take a member down (proxied pools). Absent: they do not. */
  readonly passive?: PassiveSpec
  /** How members are spoken to with TLS (proxied pools). Absent: without. */
  readonly tls?: NodePoolTls
  /** Members are spoken to in HTTP/2 without TLS (pools of mode `http`). Absent: in HTTP/1.1. */
  readonly http2?: true
}

/** Certificates are named as in `ServiceTls`. */
export interface NodePoolTls {
  /** The authorities that members' certificates must be from. Null: any certificate is accepted. */
  readonly authorities: NodeCertificate | null
  /** The lists of what these authorities revoked. Absent: nothing is looked up. */
  readonly revocations?: NodeCertificate
  /** The name that members are asked for, and that their certificates must have. Null: the one that the client sent. */
  readonly serverName: string | null
  /** Shown to members that ask for one; null: none. */
  readonly certificate: NodeCertificate | null
  readonly minVersion: '1.2' | '1.3'
  /** As in `ServiceTls`. */
  readonly ciphers?: readonly Cipher[]
  /** Application protocols that are offered, by preference. Empty: none. */
  readonly alpn: readonly ('h2' | 'http/1.1')[]
}

export const DEFAULT_DRAIN_MS = 300_000

/** Passive health checks on real traffic. `response` also counts bad answers, not only failed connections. */
export interface PassiveSpec {
  readonly on: 'connection' | 'response'
  /** How many failures in a row take a member down. */
  readonly failures: number
  /** How long a member stays down at least. */
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
