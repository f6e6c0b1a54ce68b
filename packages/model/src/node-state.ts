/**
 * NodeState: the planner's output for one node, the intermediate representation of Spout.
 *
 * It is a set of small versioned entries, not one document, so that a change is sent alone: one entry per domain, one
 * per load balancer and one for the node's part in its group. Entries are plain data that we generate: ids, numbers,
 * canonical addresses. Tenant text appears only in fields of HTTP probes and
 * routes, which the model restricts to printable ASCII. The
 * same input gives the same bytes (`entryHash`).
 */

import type { SyslogTarget } from './access-log.ts'
import type { Announce, AnnouncerParts } from './announcers/registry.ts'
import type { CheckType } from './check-kinds.ts'
import type { Cipher } from './ciphers.ts'
import type { RedirectAction, RespondAction } from './http-route.ts'
import type { INSERT_HEADERS } from './listener.ts'
import type { DedicatedProxy, RequestSizes } from './offer.ts'
import type { ListenerProtocol } from './protocols.ts'
import type { RouteAuthorizer } from './route-authorizer.ts'
import type { RouteClientRate } from './route-client-rate.ts'
import type { RouteCondition } from './route-condition.ts'
import type { RouteFilter } from './route-filter.ts'
import type { RouteRetry } from './route-retry.ts'
import type { RouteTimeouts } from './route-timeouts.ts'
import type { SessionCookie } from './session-cookie.ts'

export type {
  BfdProfile,
  BgpAdvertisement,
  BgpPeerSettings,
  BgpSettings,
} from './announcers/bgp.ts'
export type { Announce } from './announcers/registry.ts'
export type { VrrpSettings, VrrpShard } from './announcers/vrrp.ts'

/** Incremented when entries change incompatibly. An agent refuses versions that it does not know. */
export const NODE_STATE_VERSION = 1

/** A tenant network on one node. */
export interface DomainEntry {
  readonly kind: 'domain'
  readonly version: typeof NODE_STATE_VERSION
  /** `domain/<number>`. */
  readonly key: string
  readonly number: number
  readonly networkId: string
  /**
   * The owner. A project's share of the node covers all of its networks together. Absent in entries of earlier control
   * planes.
   */
  readonly projectId?: string
  readonly segment: { readonly physicalNetwork: string; readonly vlan: number | null }
  readonly returnPath: 'gateway' | 'snat' | 'dsr'
  readonly subnets: readonly DomainSubnet[]
  /**
   * How this node announces the addresses that nodes share: gateways, or those that members see. Null: another node
   * does.
   */
  readonly gateway: Announce | null
  /** With return path `dsr`: how members behind routers are reached. Absent if all are on the segment. */
  readonly tunnel?: DomainTunnel
  /** Routes to members behind routers of the segment; `via` is in one of `subnets`. Absent if there are none. */
  readonly routes?: readonly DomainRoute[]
  /**
   * Own addresses in `subnets` of all nodes that carry the network, by node id: a second chance reaches a node over the
   * segment through them. Absent if no VIP of the network itself leads to a proxy.
   */
  readonly nodeAddresses?: Readonly<Record<string, readonly string[]>>
  /**
   * Set when all listeners are proxied and have no connection limit and no allow list: then nothing is translated, and
   * the kernel need not track connections. Absent: it does.
   */
  readonly untracked?: true
}

export interface DomainRoute {
  readonly to: string
  readonly via: string
}

/** VXLAN (RFC 7348) from each node to each such member, at the member's own address. Nothing comes back through it. */
export interface DomainTunnel {
  /** 1 to 2^24-1, the same on every node. */
  readonly vni: number
  /** `via` is the router on the segment that leads to the subnet, of the same family. */
  readonly subnets: readonly { readonly cidr: string; readonly via: string }[]
}

export interface DomainSubnet {
  readonly cidr: string
  /** This node's own address in the subnet. */
  readonly nodeAddress: string
  readonly gatewayIp: string | null
  /**
   * With return path `snat`: the address that members see in place of `nodeAddress`. The nodes of a group share it; the
   * one that carries the network's shard has it. Null where each node uses its own address, and with other return
   * paths.
   */
  readonly sharedAddress: string | null
}

/** One load balancer on one node. */
export interface LoadBalancerEntry {
  readonly kind: 'load-balancer'
  readonly version: typeof NODE_STATE_VERSION
  /** `lb/<id>`. */
  readonly key: string
  readonly id: string
  readonly generation: number
  /** `DomainEntry.number` of its domain. */
  readonly domain: number
  readonly vips: readonly NodeVip[]
  readonly services: readonly Service[]
  readonly pools: readonly NodePool[]
  /** Its proxied listeners have a process of their own, with these limits. Absent: they share the domain's. */
  readonly dedicatedProxy?: DedicatedProxy
  /** Larger requests of its HTTP listeners are refused. Absent: as large as the proxy takes. */
  readonly requestSizes?: RequestSizes
}

/**
 * The node's part in its group's announcements: one entry per node, with key `group`. Its size does not grow with
 * tenants. An announcer that is null or absent is switched off.
 */
export interface GroupEntry extends AnnouncerParts {
  readonly kind: 'group'
  readonly version: typeof NODE_STATE_VERSION
  readonly key: 'group'
  readonly flows: FlowSettings | null
  /** What happens to the proxies' connections after a planned move. Absent: no recent move. */
  readonly secondChance?: SecondChance
  /** Silent nodes of the group. This node probes them on the fabric and reports `sights`. Absent: none. */
  readonly watch?: readonly WatchedNode[]
}

export interface WatchedNode {
  readonly nodeId: string
  /** The node is seen when one of these answers: VIPs that it announced last, or its own address if it has none. */
  readonly addresses: readonly string[]
}

/** Limit of one `GroupEntry.watch`. */
export const MOST_WATCHED = 256

/**
 * After a planned move the proxy's established connections stay on the node that gave up the addresses. For a limited
 * time the other nodes forward packets of connections that they do not know to it.
 */
export interface SecondChance {
  /** Fabric address of the node that gets a client's packet first; null for none. */
  readonly first: string | null
  /** Where this node forwards packets that it got from another node and does not know either; null for nowhere. */
  readonly next: string | null
  /** Ids of these two nodes (`DomainEntry.nodeAddresses`); absent where there is none. */
  readonly firstNode?: string
  readonly nextNode?: string
  /** When this node began to give up addresses. From then on its proxies drain their clients. Null: not lately. */
  readonly leavingSince: string | null
  /**
   * Shards that this node hands over while it stays in service, and when that was requested. Once another node has a
   * shard, the proxies of its tenant networks drain their clients. Absent: none lately.
   */
  readonly handedOver?: { readonly shards: readonly number[]; readonly since: string }
  /**
   * When the newest of these moves was requested; identifies it. Both times are RFC 3339, the control plane's clock.
   */
  readonly since: string
  /** How long connections are kept, from when the node learns of the move. */
  readonly seconds: number
}

/** The nodes with which a node replicates flows that are translated to a shared address. */
export interface FlowSettings {
  /** Fabric addresses of this node and of the group's other nodes, of one family. */
  readonly source: string
  readonly peers: readonly string[]
  /** UDP port, the same on all nodes. */
  readonly port: number
  /** The group's secret, 64 hex digits. It authenticates every datagram. */
  readonly key: string
}

export type NodeStateEntry = GroupEntry | DomainEntry | LoadBalancerEntry

export interface NodeVip {
  readonly address: string
  readonly scope: 'fabric' | 'tenant'
  /** How this node announces it; null: another node does. */
  readonly announce: Announce | null
}

/** A listener, on every VIP of its load balancer. */
export interface Service {
  /** The listener's id. */
  readonly id: string
  readonly protocol: ListenerProtocol
  readonly port: number
  /** `NodePool.number`; null refuses connections (L4: reset, HTTP: 503). */
  readonly pool: number | null
  /** Maximum of simultaneous connections, over all VIPs; null for none. */
  readonly connectionLimit: number | null
  /** Sources that may connect; null for all. */
  readonly allowedCidrs: readonly string[] | null
  readonly timeouts: {
    readonly clientMs: number
    readonly connectMs: number
    readonly memberMs: number
    /** Time-out for the ClientHello, with protocol `tls-passthrough` alone. Absent: the node's default. */
    readonly inspectMs?: number
  }
  readonly insertHeaders: readonly (typeof INSERT_HEADERS)[number][]
  /**
   * The first whose conditions all hold takes a request, or with protocol `tls-passthrough` a connection; `pool` gets
   * the others. Absent: there are none.
   */
  readonly routes?: readonly NodeRoute[]
  /** How TLS is ended; with protocol `https` alone. */
  readonly tls?: ServiceTls
  /** How long its requests take is counted. Absent: it is not. */
  readonly latencies?: true
  /** Whether requests and responses are counted for each route. Absent: they are not. */
  readonly routeFigures?: true
  /**
   * A line of this format for each request or connection. `syslog` gets it, if it is there, else the project's log.
   * Absent: none.
   */
  readonly accessLog?: { readonly format: string; readonly projectId: string; readonly syslog?: NodeSyslog }
}

/** A receiver of access logs. `tls` with transport `tls` alone. */
export interface NodeSyslog extends Omit<SyslogTarget, 'tls'> {
  readonly tls?: NodeSyslogTls
}

export interface NodeSyslogTls {
  readonly authorities: NodeCertificate
  /** Null: the member's address. */
  readonly serverName: string | null
  /** Null: none is presented. */
  readonly certificate: NodeCertificate | null
}

export interface NodeRoute {
  /** The route's id in the model. */
  readonly id: string
  readonly conditions: readonly RouteCondition[]
  readonly action: NodeForward | RedirectAction | RespondAction
}

/** `pool` as `Service.pool`: its share of the requests gets 503 where it is null. */
export interface NodeForward {
  readonly type: 'forward'
  readonly pools: readonly {
    readonly pool: number | null
    readonly weight: number
    /** Filters for this share alone. Absent: none. */
    readonly filters?: readonly RouteFilter[]
  }[]
  /** A share that is answered with this code. Absent: none. */
  readonly answered?: { readonly code: number; readonly weight: number }
  /** Absent: none. */
  readonly filters?: readonly RouteFilter[]
  /** Absent: those of the service. */
  readonly timeouts?: RouteTimeouts
  /** Absent: none. */
  readonly retry?: RouteRetry
  /** Absent: none. */
  readonly clientRate?: RouteClientRate
  /** Absent: any number. */
  readonly clientConcurrency?: number
  /** Absent: any number. */
  readonly maxBodyBytes?: number
  /** Decides whether a request may go on; a null pool lets none. Absent: all may. */
  readonly authorizer?: NodeAuthorizer
  /** Pools that get copies of this share of the requests; null: one that is not there. Absent: none. */
  readonly mirrors?: readonly { readonly pool: number | null; readonly percent: number }[]
}

/** `pool` is asked. */
export interface NodeAuthorizer extends Omit<RouteAuthorizer, 'poolId'> {
  readonly pool: number | null
}

/** The certificates' content is not in the entry: the node asks for what it lacks. */
export interface ServiceTls {
  /** At least one. */
  readonly certificates: readonly NodeCertificate[]
  /** Clients that name no host of a certificate get the first one, or an alert. */
  readonly unknownNames: 'default' | 'refuse'
  readonly minVersion: '1.2' | '1.3'
  /** Cipher suites by preference, of TLS 1.2 and 1.3 apart. Absent, or none of a version: the usual ones. */
  readonly ciphers?: readonly Cipher[]
  /** Application protocols that are negotiated (ALPN, RFC 7301), by preference. Empty: none. */
  readonly alpn: readonly ('h2' | 'http/1.1')[]
  /** The header of responses that makes clients insist on TLS (RFC 6797). Absent: none is added. */
  readonly hsts?: { readonly maxAgeSeconds: number; readonly includeSubdomains: boolean; readonly preload: boolean }
  /** Clients are asked for a certificate of these authorities. Absent: they are not. */
  readonly clients?: {
    readonly authorities: NodeCertificate
    readonly required: boolean
    /** Whether clients with an invalid certificate are accepted. Absent: they are refused. */
    readonly acceptInvalid?: true
    /** The lists of what these authorities revoked. Absent: nothing is looked up. */
    readonly revocations?: NodeCertificate
  }
  /**
   * Names that separate requests: a request whose host belongs to another of these names than the name of its
   * connection (SNI) gets 421. Absent: none does.
   */
  readonly separateHosts?: readonly string[]
}

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

/** A certificate that a node needs. `contentId` names one version of chain and key. */
export interface NodeCertificate {
  readonly id: string
  readonly contentId: string
}

/** All certificates that a node needs for a load balancer. */
export const certificatesOfEntry = ({
  services,
  pools,
}: Pick<LoadBalancerEntry, 'services' | 'pools'>): readonly NodeCertificate[] => [
  ...services.flatMap(({ tls }) => tls?.certificates ?? []),
  ...services.flatMap(({ tls }) => tls?.clients?.authorities ?? []),
  ...services.flatMap(({ tls }) => tls?.clients?.revocations ?? []),
  ...services.flatMap(({ accessLog }) => accessLog?.syslog?.tls?.authorities ?? []),
  ...services.flatMap(({ accessLog }) => accessLog?.syslog?.tls?.certificate ?? []),
  ...pools.flatMap(({ tls }) => [tls?.authorities ?? [], tls?.revocations ?? [], tls?.certificate ?? []].flat()),
]

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

/**
 * Which member serves which hash slot. `table` is base64 of `size` little-endian 16-bit member indexes; 0xffff is an
 * empty slot. The planner edits the previous table, so a member that goes moves only its own flows.
 */
export interface SlotTable {
  readonly size: SlotTableSize
  readonly table: string
}
export const SLOT_TABLE_SIZES = [64, 256, 1024, 4096] as const
export type SlotTableSize = (typeof SLOT_TABLE_SIZES)[number]
export const NO_MEMBER = 0xffff

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

const MANY = 64

/** Whether changes of the entry are sent and journalled as edits. */
export const isLargeEntry = (entry: NodeStateEntry): boolean =>
  entry.kind === 'load-balancer' &&
  (entry.pools.some(({ members }) => members.length > MANY) ||
    entry.services.some(({ routes }) => routes !== undefined && routes.length > MANY))
