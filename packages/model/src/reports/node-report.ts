import type { LatencyCounts } from './latency-counts.ts'
import type { LocalReport } from './local-report.ts'

/**
 * What an agent reports of its node: one message of the agent link, from agent to control plane. It replaces the
 * reports for the keys that it names; those for other keys stay. Reports are soft state: they are merged in memory, and
 * after a restart of the control plane the nodes send them again.
 */
export interface NodeReport {
  /** Random, new at each start of the agent. A new session repeats everything. */
  readonly session: string
  /** Counts the session's reports from 1. */
  readonly sequence: number
  readonly entries: readonly EntryReport[]
  /** Keys of entries that the node has deleted. */
  readonly removed: readonly string[]
  readonly members: readonly MemberHealth[]
  readonly stats: readonly ServiceStats[]
  /** Whether the agent has tried to apply every entry of the last full set. */
  readonly inSync: boolean
  /** What this node's drivers support (`features` of each driver). */
  readonly features: readonly string[]
  /** All VRRP shards of the node. Absent: unchanged since the last report that had them. */
  readonly shards?: readonly ShardReport[]
  /** All BGP sessions of the node. Absent: unchanged since the last report that had them. */
  readonly bgpSessions?: readonly BgpSessionReport[]
  /** State of flow replication; null where flows are not replicated. Absent: unchanged. */
  readonly flows?: FlowsReport | null
  /** Addresses of this node that somebody else claims, at most 100. Absent: unchanged. */
  readonly addressConflicts?: readonly AddressConflictReport[]
  /** Progress of a proxy drain. Null: the node has not given up addresses recently. Absent: unchanged. */
  readonly departure?: ProxyDrainReport | null
  /** The address on the node's fabric interface; null without one. Absent: unchanged. */
  readonly fabricAddress?: string | null
  /** The nodes of `GroupEntry.watch` that were probed long enough for a result. Absent: unchanged. */
  readonly sights?: readonly Sight[]
  /** Tenant networks that exceed their share of this node, at most 1,000. Absent: unchanged. */
  readonly overShares?: readonly OverShareReport[]
  /** Access logs whose receiver is unreachable now, at most `MOST_LOG_TROUBLES`. Absent: unchanged. */
  readonly logTroubles?: readonly LogTroubleReport[]
  /**
   * The load balancers of the node's own settings. Absent: unchanged since the last report that had them; agents that never
   * have the field say nothing about theirs.
   */
  readonly local?: readonly LocalReport[]
  /** The agent's version. Absent: unchanged; agents before 0.1.0 do not know the field. */
  readonly version?: string
}

/**
 * What a share limits. `packets`, `bytes` and `new-flows` are rates per second; traffic from clients and from members
 * is counted separately. `flows` are those that the kernel tracks. `processors`, `memory` (bytes) and `connections`
 * limit the network's proxy, and separately each load balancer's own proxy. `mirrors` limits copies of requests in
 * flight.
 */
export const SHARE_NAMES = [
  'packets',
  'bytes',
  'new-flows',
  'flows',
  'processors',
  'memory',
  'connections',
  'mirrors',
] as const
export type ShareName = (typeof SHARE_NAMES)[number]

/** A tenant network that exceeded its share within the last minute. The excess was dropped or waits. */
export interface OverShareReport {
  /** `DomainEntry.number`. */
  readonly domain: number
  /** The load balancer whose own proxy exceeded the share. Absent: the network exceeded it. */
  readonly loadBalancerId?: string
  readonly share: ShareName
  /** The limit, per second or at a time. */
  readonly limit: number
  /**
   * True if something was refused within the last minute. False if the share is only used up, or nearly so. Older
   * agents leave it out.
   */
  readonly refused?: boolean
}

/** A listener whose access log cannot be delivered. Its lines are queued, and are lost once the queue is full. */
export interface LogTroubleReport {
  readonly loadBalancerId: string
  readonly listenerId: string
  /** Our own text, never one that the receiver sent. */
  readonly reason: string
}
export const MOST_LOG_TROUBLES = 1000

/** Whether a silent node still answers ARP or neighbour solicitations on the fabric, as another node sees it. */
export interface Sight {
  readonly nodeId: string
  readonly answers: boolean
}

/** RFC 5798 section 6.4. `stopped`: the node takes no part in the shard. */
export type ShardState = 'master' | 'backup' | 'fault' | 'stopped'

/** One node's view of its part in a shard. */
export interface ShardReport {
  /** `VrrpShard.number`. */
  readonly number: number
  readonly state: ShardState
  /** RFC 3339, the node's clock: when `state` last changed. */
  readonly since: string
  /** How often the node became master in this session. */
  readonly takeovers: number
  /** The last change of state; null before the first. */
  readonly lastMove: ShardMove | null
}

export interface ShardMove {
  /** RFC 3339, the node's clock. */
  readonly at: string
  readonly from: ShardState
  readonly to: ShardState
  /** The node's reason: `vrrp`, `handed over`, `drained`, `conflict`, `unhealthy: ...`. Null if unknown. */
  readonly reason: string | null
  /** Milliseconds from the previous master's last sign of life to this node's takeover; null if unknown. */
  readonly silentMs: number | null
}

/** A session with one BGP peer (RFC 4271 section 8.2.2), as the routing daemon reports it. */
export interface BgpSessionReport {
  /** `BgpPeerSettings.id`. */
  readonly peerId: string
  readonly state: BgpSessionState
  /** RFC 3339: when `state` last changed. */
  readonly since: string
  /** How many prefixes are announced to the peer now. */
  readonly announced: number
  /** The routing daemon's text that says why the session ended or does not come up. Null without one. */
  readonly lastError: string | null
  /** RFC 5880; null without BFD. */
  readonly bfd: 'up' | 'down' | 'init' | 'admin-down' | null
}

/** RFC 4271 section 8.2.2. `stopped`: the daemon does not run, or the session is switched off. */
export type BgpSessionState = 'stopped' | 'idle' | 'connect' | 'active' | 'open-sent' | 'open-confirm' | 'established'

/** Flow replication on one node, over all domains. Counters run since its process started. */
export interface FlowsReport {
  /** Flows that this node carries, because it has the address that their members see. */
  readonly carried: number
  /** Flows of other nodes that this node can take over. */
  readonly ready: number
  /**
   * Flows of other nodes that it could not store, because it has a flow of its own with the same addresses and ports.
   */
  readonly refused: number
  /** How often another node claimed a flow that this node carries. This node kept the flow each time. */
  readonly insisted: number
  /**
   * Flows that another node carried and that had not been replicated here when their address moved to this node. Older
   * agents leave it out.
   */
  readonly missed?: number
  /** The last move within 15 minutes at which most flows were missing. `at` is RFC 3339, by the node's clock. */
  readonly lastMiss?: { readonly at: string; readonly expected: number; readonly came: number } | null
  /**
   * `refused`: with a wrong key, out of order, from a sender outside of the group, or about flows that are not shared.
   */
  readonly datagrams: {
    readonly sent: number
    readonly received: number
    readonly lost: number
    readonly refused: number
  }
  /** The number of other nodes in the group, and of those that have been silent for 10 s. */
  readonly peers: number
  readonly silent: number
  /** At most 16 of the silent peers, by fabric address. `lastHeard` is RFC 3339, by the node's clock; null: never. */
  readonly silentPeers: readonly { readonly address: string; readonly lastHeard: string | null }[]
  /** Why replication does not work on this node. Null: it works. */
  readonly error: string | null
}

/** An address of the node that another machine on the wire claimed within the last minute. */
export interface AddressConflictReport {
  readonly address: string
  /** The claimant's MAC address; the last one of several. */
  readonly mac: string
  /** RFC 3339 of the node's clock. */
  readonly since: string
}

/** How far a node that gave up addresses has drained its proxies' connections. */
export interface ProxyDrainReport {
  /** `SecondChance.leavingSince`, which identifies the drain. */
  readonly since: string
  /** How many proxies (one per tenant network) still have clients. Null before clients were asked to reconnect. */
  readonly busyProxies: number | null
}

export interface EntryReport {
  readonly key: string
  /** `entryHash` of the entry that this report is about. */
  readonly hash: string
  readonly state: 'programmed' | 'failed'
  /** A code (`KernelRefused`, `ProxyUnavailable`); null when programmed. */
  readonly reason: string | null
  /** The kernel's or the proxy's own message; null when programmed. */
  readonly message: string | null
  /** VIPs that this node announces or, if they follow a shard, would announce as its master. */
  readonly announced: readonly string[]
}

export interface MemberHealth {
  readonly loadBalancerId: string
  readonly poolId: string
  readonly memberId: string
  readonly health: 'up' | 'down' | 'unknown'
  /** Why it is down (`connection refused`, `status 500`); null otherwise. */
  readonly reason: string | null
  /** RFC 3339: when `health` last changed. */
  readonly since: string
}

/** Counters since the node programmed the listener. They never decrease within a `session`. */
export interface ServiceStats {
  readonly loadBalancerId: string
  readonly listenerId: string
  readonly bytesIn: number
  readonly bytesOut: number
  readonly activeConnections: number
  readonly totalConnections: number
  readonly requestErrors: number
  /** Only for listeners whose requests the proxy parses. Older agents leave it out. */
  readonly http?: HttpStats
}

export const RESPONSE_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
/** Responses by the first digit of their status. */
export type ResponseCounts = Readonly<Record<(typeof RESPONSE_CLASSES)[number], number>>

/** Counters of requests; like those of `ServiceStats` they never decrease within a `session`. */
export interface HttpStats {
  readonly requests: number
  readonly responses: ResponseCounts
  /** How long requests took, since the agent started. Absent if durations are not counted. */
  readonly latencies?: LatencyCounts
  /** The same requests by pool and route. Absent where `latencies` is; older agents leave it out. */
  readonly parts?: RequestParts
}

/**
 * Requests of one listener by the pools that they went to and by the routes that took them, since the agent started.
 */
export interface RequestParts {
  /** By pool id, for the first `MOST_COUNTED_POOLS` pools that had requests. */
  readonly pools: Readonly<Record<string, RequestCounts>>
  /**
   * By route id, for listeners with `routeFigures`. Routes beyond the first `MOST_COUNTED_ROUTES` are counted together
   * as `OTHER_ROUTES`.
   */
  readonly routes: Readonly<Record<string, RequestCounts>>
}

export interface RequestCounts {
  readonly latencies: LatencyCounts
  readonly responses: ResponseCounts
}

/** How many pools of a listener a node counts separately: the first that had requests. */
export const MOST_COUNTED_POOLS = 100
/** How many routes of a listener a node counts separately: the first that had requests. */
export const MOST_COUNTED_ROUTES = 100
/** The key for all other routes in `RequestParts.routes`. It is no route's id. */
export const OTHER_ROUTES = 'other'
