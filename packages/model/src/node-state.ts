/**
 * NodeState: what the planner gives a node, the intermediate representation of Spout.
 *
 * It is a set of small versioned entries, one per domain, one per load balancer and one for the node itself, not one document: a change travels
 * alone. Entries are plain data made by us alone: ids, numbers, canonical addresses; tenant text appears only in
 * HTTP probe fields, which the model restricts to printable ASCII. The same input gives the same bytes (`entryHash`).
 */

import type { ListenerProtocol } from './protocols.ts'

/** Raised when the shape of entries changes incompatibly; an agent refuses versions it does not know. */
export const NODE_STATE_VERSION = 1

/** A tenant network as one node sees it. */
export interface DomainEntry {
  readonly kind: 'domain'
  readonly version: typeof NODE_STATE_VERSION
  /** `domain/<number>`. */
  readonly key: string
  readonly number: number
  readonly networkId: string
  /** Whose it is: what a project may use of the node, it may use in all of its networks together. Absent in entries of earlier control planes. */
  readonly projectId?: string
  readonly segment: { readonly physicalNetwork: string; readonly vlan: number | null }
  readonly returnPath: 'gateway' | 'snat' | 'dsr'
  readonly subnets: readonly DomainSubnet[]
  /** How this node answers for the addresses that the nodes share: gateways, or what members see; null leaves them to another. */
  readonly gateway: Announce | null
  /** Return path `dsr`: how members are reached that are behind routers. Absent where all are on the segment. */
  readonly tunnel?: DomainTunnel
  /** To members behind routers of the segment: `via` is in one of `subnets`. Absent where there are none. */
  readonly routes?: readonly DomainRoute[]
  /**
   * The own addresses, in `subnets`, of all nodes that carry the network, by node id: how a second chance reaches a node
   * over the segment. Absent where no VIP of the network itself leads to a proxy.
   */
  readonly nodeAddresses?: Readonly<Record<string, readonly string[]>>
  /**
   * All that is served here are proxied listeners that neither count their connections nor list their clients: nothing is
   * translated, and the kernel need track nothing. Absent: it does.
   */
  readonly untracked?: true
}

export interface DomainRoute {
  readonly to: string
  readonly via: string
}

/** VXLAN (RFC 7348) from each node to each such member, at the member's own address; nothing comes back through it. */
export interface DomainTunnel {
  /** 1 to 2^24-1, the same on every node. */
  readonly vni: number
  /** `via` is the router on the segment through which the node reaches the subnet; of its family. */
  readonly subnets: readonly { readonly cidr: string; readonly via: string }[]
}

export interface DomainSubnet {
  readonly cidr: string
  /** This node's own address in the subnet. */
  readonly nodeAddress: string
  readonly gatewayIp: string | null
  /**
   * What members see in place of `nodeAddress` (return path `snat`): shared by the nodes of a group, at the one that
   * carries the network's shard. Null where each node keeps its own, and for the other return paths.
   */
  readonly sharedAddress: string | null
}

/** One load balancer as one node carries it. */
export interface LoadBalancerEntry {
  readonly kind: 'load-balancer'
  readonly version: typeof NODE_STATE_VERSION
  /** `lb/<id>`. */
  readonly key: string
  readonly id: string
  readonly generation: number
  /** The DomainEntry it lives in. */
  readonly domain: number
  readonly vips: readonly NodeVip[]
  readonly services: readonly Service[]
  readonly pools: readonly NodePool[]
}

/**
 * How this node takes part in its group's announcements: one entry a node, key `group`. Nothing in it grows with
 * tenants. Null switches an announcer off.
 */
export interface GroupEntry {
  readonly kind: 'group'
  readonly version: typeof NODE_STATE_VERSION
  readonly key: 'group'
  readonly vrrp: VrrpSettings | null
  readonly bgp: BgpSettings | null
  readonly flows: FlowSettings | null
  /** What becomes of the proxy's connections after a planned move. Left out: none was made lately. */
  readonly secondChance?: SecondChance
  /** Nodes of the group that do not report, of which this one shall say whether they answer on the fabric. Left out: none. */
  readonly watch?: readonly WatchedNode[]
}

export interface WatchedNode {
  readonly nodeId: string
  /** It answers when one of these does: VIPs that it announced last, or its own address where it has none. */
  readonly addresses: readonly string[]
}

/** Of one `GroupEntry.watch`. */
export const MOST_WATCHED = 256

/**
 * A planned move leaves the proxy's established connections on the node that gave its addresses up. For a bounded time
 * the others send it what comes for connections that they do not have themselves.
 */
export interface SecondChance {
  /** Fabric address of the node that a client's packet goes to first; null when there is none. */
  readonly first: string | null
  /** Where this node sends on what another node sent it in vain; null: to nobody. */
  readonly next: string | null
  /** Ids of these two nodes (`DomainEntry.nodeAddresses`), left out where there is none. */
  readonly firstNode?: string
  readonly nextNode?: string
  /** When this node began to give addresses up: once it has, its proxies see their clients off. Null: it has not lately. */
  readonly leavingSince: string | null
  /**
   * Shards that this node hands over although it stays, and when that was asked for: once another node has one, the proxies
   * of its tenant networks see their clients off. Left out: none lately.
   */
  readonly handedOver?: { readonly shards: readonly number[]; readonly since: string }
  /** When the newest of these moves was asked for. Tells one from another; both times are the control plane's, RFC 3339. */
  readonly since: string
  /** From when a node is told: longer no connection is carried on. */
  readonly seconds: number
}

/** With whom a node shares the state of flows that are translated to a shared address. */
export interface FlowSettings {
  /** This node's address on the fabric, and those of the group's other nodes; one family. */
  readonly source: string
  readonly peers: readonly string[]
  /** UDP, on all of them. */
  readonly port: number
  /** 64 hex digits: the group's secret, which every datagram proves to know. */
  readonly key: string
}

/** VRRPv3 (RFC 5798) with unicast peers; the shards' VIPs follow their shard's state on the node itself. */
export interface VrrpSettings {
  /** This node's address on the fabric, and those of the group's other nodes; one family. */
  readonly source: string
  readonly peers: readonly string[]
  /** Adverts are sent so often: a multiple of 10 ms, 10 to 40,950 (RFC 5798 section 5.2.7). */
  readonly advertMs: number
  /** So many adverts must be missed in a row before another node takes over; RFC 5798 says 3. */
  readonly missedAdverts: number
  readonly shards: readonly VrrpShard[]
  /** This node gives up its shards and takes none (it is drained). */
  readonly yield: boolean
}

export interface VrrpShard {
  /** 1 to 16, the same on every node of the group. */
  readonly number: number
  /** VRID, 1 to 255; unique among all groups. */
  readonly routerId: number
  /** 1 to 254; no two nodes of a shard share one. Decides only who begins: nobody is preempted. */
  readonly priority: number
  /** A node that owns the shard gives it up once: when this was asked for (RFC 3339), which tells one time from another. */
  readonly handOver?: string
}

export interface BgpSettings {
  /** BGP identifier (RFC 6286): dotted IPv4, unique among the routers of an AS. */
  readonly routerId: string
  /** 1 to 4,294,967,294. */
  readonly localAs: number
  readonly peers: readonly BgpPeerSettings[]
  readonly advertisements: readonly BgpAdvertisement[]
  /**
   * `none`; `prefer-others`: announced with GRACEFUL_SHUTDOWN (RFC 8326) and local preference 0; `withdrawn`: sessions
   * stay, nothing is announced.
   */
  readonly drain: 'none' | 'prefer-others' | 'withdrawn'
}

export interface BgpPeerSettings {
  /** The peer's id in the model. */
  readonly id: string
  /** An address, or null for an unnumbered session (link-local address of the fabric interface's only neighbour). */
  readonly address: string | null
  readonly port: number
  readonly as: number
  /** Null lets the kernel choose. */
  readonly sourceAddress: string | null
  /** Hops to the peer: 1 is directly connected; more is a multihop session. */
  readonly hops: number
  /** GTSM (RFC 5082): what arrives with a TTL below that of `hops` is dropped. The peer must have it too. Default false. */
  readonly ttlSecurity?: boolean
  /** TCP MD5 signature (RFC 2385); printable ASCII, at most 80 characters. */
  readonly md5Secret: string | null
  readonly holdTimeS: number
  readonly keepaliveTimeS: number
  readonly connectRetryS: number
  /** Families announced over the session. */
  readonly families: readonly ('ipv4' | 'ipv6')[]
  readonly bfd: BfdProfile | null
  /** Graceful restart (RFC 4724): for how long the peer keeps our routes; null is off. */
  readonly gracefulRestartS: number | null
  /** Prefixes from the peer beyond so many are dropped; nothing from a peer is ever used. */
  readonly prefixLimit: number
}

/** RFC 5880. */
export interface BfdProfile {
  readonly minTransmitMs: number
  readonly minReceiveMs: number
  readonly multiplier: number
}

/** What is said with an address. `Announce.advertisement` names one by number. */
export interface BgpAdvertisement {
  /** 1 to 1,000. */
  readonly number: number
  /** `AS:VALUE` (RFC 1997) or `AS:VALUE:VALUE` (large, RFC 8092). */
  readonly communities: readonly string[]
  /** Null leaves the default. */
  readonly localPreference: number | null
  readonly med: number | null
  /** Announce the prefix of this length that holds the address in place of the address; null is /32 and /128. */
  readonly aggregateLength4: number | null
  readonly aggregateLength6: number | null
  /** Peer ids it goes to; null is all. */
  readonly peerIds: readonly string[] | null
}

export type NodeStateEntry = GroupEntry | DomainEntry | LoadBalancerEntry

/**
 * Who makes an address known on this node, and when: `l2` at once, the planner chose this node; `vrrp` while this node is
 * master of the shard; `bgp` at once on every node of the group, with policy `healthy` only while a member is up, and with a
 * shard only while this node is its master: it holds the gateway that the members' replies come back through.
 */
export type Announce =
  | { readonly via: 'l2' }
  | { readonly via: 'vrrp'; readonly shard: number }
  | {
      readonly via: 'bgp'
      readonly advertisement: number
      readonly policy: 'always' | 'healthy'
      readonly shard: number | null
    }

export interface NodeVip {
  readonly address: string
  readonly scope: 'fabric' | 'tenant'
  /** How this node announces it; null leaves it to another node. */
  readonly announce: Announce | null
}

/** A listener on every VIP of its load balancer. */
export interface Service {
  /** The listener's id. */
  readonly id: string
  readonly protocol: ListenerProtocol
  readonly port: number
  /** `NodePool.number`; null refuses connections (L4: reset, HTTP: 503). */
  readonly pool: number | null
  /** Most simultaneous connections, over all VIPs; null for none. */
  readonly connectionLimit: number | null
  /** Admitted sources; null for all. */
  readonly allowedCidrs: readonly string[] | null
  readonly timeouts: { readonly clientMs: number; readonly connectMs: number; readonly memberMs: number }
  readonly insertHeaders: readonly ('x-forwarded-for' | 'x-forwarded-port' | 'x-forwarded-proto')[]
}

export interface NodePool {
  /** The pool's id in the model. */
  readonly id: string
  /** Unique within the domain, 1 to 2^24-1; the same on every node. Names kernel keys and proxy sections. */
  readonly number: number
  /** `l4`: balanced by the packet path from `slots`. `http`, `tcp-proxy`: balanced by the proxy with `algorithm`. */
  readonly mode: 'l4' | 'http' | 'tcp-proxy'
  readonly algorithm: 'round-robin' | 'least-connections' | 'source-ip' | 'source-ip-port'
  /** Hash over the source address alone, so that a client keeps its member. */
  readonly sourceAffinity: boolean
  /** PROXY protocol to the members (proxied pools). */
  readonly proxyProtocol: 'none' | 'v1' | 'v2'
  /** In the order of the slot table's indexes; gaps are null (a member that left frees its index). */
  readonly members: readonly (NodeMember | null)[]
  /** The slot table of an `l4` pool; null for proxied pools. */
  readonly slots: SlotTable | null
  readonly check: CheckSpec | null
  readonly panicThreshold: number
  /** In this time a member that comes (back) up grows to its whole share. Left out: at once. */
  readonly slowStartMs?: number
  /** Established flows of a member that leaves or gets weight 0 are cut after this time. Left out: `DEFAULT_DRAIN_MS`. */
  readonly drainMs?: number
  /** Established TCP flows of a member that goes down are reset. Default false. */
  readonly resetOnDown?: boolean
  /** Failures in real traffic take a member out, too (proxied pools). Left out: they do not. */
  readonly passive?: PassiveSpec
}

export const DEFAULT_DRAIN_MS = 300_000

/** What real traffic says of a member. `response` counts bad answers beside failed connections. */
export interface PassiveSpec {
  readonly on: 'connection' | 'response'
  /** So many with no success among them. */
  readonly failures: number
  /** How long a member stays out at least. */
  readonly holdMs: number
  /** Most of the ordinary members that may be down for one more to be taken out. */
  readonly maxDownPercent: number
}

/**
 * Which member serves which hash slot. `table` is base64 of `size` little-endian 16-bit member indexes; 0xffff is a slot
 * without a member. The planner edits the previous table, so a member that goes moves only its own flows.
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
  /** Where it is probed. */
  readonly checkAddress: string
  readonly checkPort: number
}

export interface CheckSpec {
  readonly type: 'tcp' | 'http' | 'https' | 'tls-hello' | 'ping' | 'udp' | 'sctp'
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

const MANY_MEMBERS = 64

/** Whether a change of the entry is to travel, and to be journalled, as what changed. */
export const isLargeEntry = (entry: NodeStateEntry): boolean =>
  entry.kind === 'load-balancer' && entry.pools.some(({ members }) => members.length > MANY_MEMBERS)
