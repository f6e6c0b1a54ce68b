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
  /** VIPs that this node announces now. */
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
