/** NodeReport: what an agent tells of its node. Soft state: merged in memory, rebuilt from the nodes after a restart. */

/** One message of the agent link, agent to control plane. Whole for the keys it names; keys not named are unchanged. */
export interface NodeReport {
  /** Drawn at each start of the agent: a new one means that everything is told again. */
  readonly session: string
  /** Counts reports of the session from 1. */
  readonly sequence: number
  readonly entries: readonly EntryReport[]
  /** Keys of entries that the node no longer holds. */
  readonly removed: readonly string[]
  readonly members: readonly MemberHealth[]
  readonly stats: readonly ServiceStats[]
  /** True once every entry of the last full set was tried: the data plane follows. */
  readonly inSync: boolean
  /** What this node's drivers can do (`features` of each driver). */
  readonly features: readonly string[]
  /** All VRRP shards of the node; left out, nothing changed since the last report that named them. */
  readonly shards?: readonly ShardReport[]
  /** All BGP sessions of the node; left out, nothing changed since the last report that named them. */
  readonly bgpSessions?: readonly BgpSessionReport[]
  /** How flows are replicated; null where they are not. Left out, nothing changed. */
  readonly flows?: FlowsReport | null
  /** Addresses of this node that somebody else claims, at most 100; left out, nothing changed. */
  readonly addressConflicts?: readonly AddressConflictReport[]
  /** What is left on a node that gave addresses up lately; null on one that did not. Left out, nothing changed. */
  readonly departure?: ProxyDrainReport | null
  /** The address that the agent sees on its fabric interface, null when there is none; left out, nothing changed. */
  readonly fabricAddress?: string | null
  /** Of the nodes in `GroupEntry.watch`, those that were looked for long enough; left out, nothing changed. */
  readonly sights?: readonly Sight[]
  /** Tenant networks that want more of this node than their share, at most 1,000; left out, nothing changed. */
  readonly overShares?: readonly OverShareReport[]
}

/**
 * What a tenant network has a share of. `packets`, `bytes` and `new-flows` are counted by the second, from clients and
 * from members apart; `flows` are those that the kernel tracks. `processors`, `memory` (bytes) and `connections` are what
 * its proxy may have.
 */
export type ShareName = 'packets' | 'bytes' | 'new-flows' | 'flows' | 'processors' | 'memory' | 'connections'

/** A tenant network that wanted more than its share within the last minute: what was over it was dropped, or waits. */
export interface OverShareReport {
  /** `DomainEntry.number`. */
  readonly domain: number
  readonly share: ShareName
  /** What it may have: in a second, or at a time. */
  readonly limit: number
  /** It was refused something within the last minute; false: it has all or nearly all. An older agent does not say. */
  readonly refused?: boolean
}

/** Whether a node that does not report answers ARP or neighbour solicitations on the fabric, as another node sees it. */
export interface Sight {
  readonly nodeId: string
  readonly answers: boolean
}

/** RFC 5798 section 6.4, and `stopped`: the node takes no part in the shard now. */
export type ShardState = 'master' | 'backup' | 'fault' | 'stopped'

/** One shard of the group as one node sees itself in it. */
export interface ShardReport {
  /** `VrrpShard.number`. */
  readonly number: number
  readonly state: ShardState
  /** RFC 3339, the node's clock; when it last changed. */
  readonly since: string
  /** How often the node became master since its agent's session began. */
  readonly takeovers: number
  /** The newest change of state; null before the first. */
  readonly lastMove: ShardMove | null
}

export interface ShardMove {
  /** RFC 3339, the node's clock. */
  readonly at: string
  readonly from: ShardState
  readonly to: ShardState
  /** The node's word for it (`vrrp`, `handed over`, `drained`, `conflict`, `unhealthy: ...`); null when unknown. */
  readonly reason: string | null
  /** Milliseconds from the last sign of the master before to this node's takeover; null when that is not known. */
  readonly silentMs: number | null
}

/** A session with one BGP peer (RFC 4271 section 8.2.2) as the node's routing daemon tells it. */
export interface BgpSessionReport {
  /** `BgpPeerSettings.id`. */
  readonly peerId: string
  readonly state: BgpSessionState
  /** RFC 3339; when it last changed. */
  readonly since: string
  /** Prefixes announced to the peer now. */
  readonly announced: number
  /** The daemon's words for why the session last ended or does not come up; null when there is nothing to say. */
  readonly lastError: string | null
  /** RFC 5880; null without BFD. */
  readonly bfd: 'up' | 'down' | 'init' | 'admin-down' | null
}

/** `stopped`: the daemon does not run or the session is switched off. */
export type BgpSessionState = 'stopped' | 'idle' | 'connect' | 'active' | 'open-sent' | 'open-confirm' | 'established'

/** The replication of flows on one node, over all domains. Counters since its process started. */
export interface FlowsReport {
  /** Flows that this node carries: it holds the address that their members see. */
  readonly carried: number
  /** Flows of other nodes that it holds ready. */
  readonly ready: number
  /** How often it could not hold a flow of another ready: it has one of its own in its place. */
  readonly refused: number
  /** How often another spoke of a flow that this node carries, which went by its own word. */
  readonly insisted: number
  /** Flows that another node had said it carried, and that were not ready when their address came here. An older agent does not say. */
  readonly missed?: number
  /** The newest time that most of them were not, within the last quarter of an hour; RFC 3339 of the node's clock. */
  readonly lastMiss?: { readonly at: string; readonly expected: number; readonly came: number } | null
  /** `refused`: without the key, out of order, from strangers or about what is not shared. */
  readonly datagrams: {
    readonly sent: number
    readonly received: number
    readonly lost: number
    readonly refused: number
  }
  /** Other nodes of the group, and those not heard for 10 s. */
  readonly peers: number
  readonly silent: number
  /** At most 16 of the silent ones, by their fabric address; RFC 3339 of the node's clock, null for never. */
  readonly silentPeers: readonly { readonly address: string; readonly lastHeard: string | null }[]
  /** Why it does not work on this node; null when it does. */
  readonly error: string | null
}

/** An address that the node answers for, and that another on the wire said is his within the last minute. */
export interface AddressConflictReport {
  readonly address: string
  /** Who claims it; the last one of several. */
  readonly mac: string
  /** RFC 3339 of the node's clock. */
  readonly since: string
}

/** Progress of the proxy drain on a node that released its addresses. */
export interface ProxyDrainReport {
  /** `SecondChance.leavingSince`: the drain that it is about. */
  readonly since: string
  /** Proxies (one a tenant network) that clients are still connected to; null before they were asked to go. */
  readonly busyProxies: number | null
}

export interface EntryReport {
  readonly key: string
  /** `entryHash` of the entry this is about. */
  readonly hash: string
  readonly state: 'programmed' | 'failed'
  /** A word for machines (`KernelRefused`, `ProxyUnavailable`); null when programmed. */
  readonly reason: string | null
  /** For people: the kernel's or the proxy's own words; null when programmed. */
  readonly message: string | null
  /** VIPs that this node has taken on to announce; one that follows a shard is answered for by the shard's master. */
  readonly announced: readonly string[]
}

export interface MemberHealth {
  readonly loadBalancerId: string
  readonly poolId: string
  readonly memberId: string
  readonly health: 'up' | 'down' | 'unknown'
  /** Why it is down (`connection refused`, `status 500`); null otherwise. */
  readonly reason: string | null
  /** RFC 3339; when it last changed. */
  readonly since: string
}

/** Counters since the node programmed the listener; they never fall within one `session`. */
export interface ServiceStats {
  readonly loadBalancerId: string
  readonly listenerId: string
  readonly bytesIn: number
  readonly bytesOut: number
  readonly activeConnections: number
  readonly totalConnections: number
  readonly requestErrors: number
}
