/** A load balancer of nodes' own settings (`local.loadBalancers`), such as the address of a cluster's API servers. */
export interface LocalLoadBalancer {
  readonly name: string
  /** IPv4, as those of the members. */
  readonly address: string
  readonly port: number
  readonly members: readonly { readonly address: string; readonly port: number }[]
  readonly check: LocalCheck
}

export interface LocalCheck {
  readonly type: 'tcp' | 'http' | 'https'
  /** The requested path; null for type `tcp`. */
  readonly path: string | null
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly rise: number
  readonly fall: number
}

/** A node's own load balancer as its agent reports it: what the settings say, and what became of it. */
export interface LocalReport extends LocalLoadBalancer {
  readonly members: readonly LocalMemberReport[]
  /** `waiting`: the agent has not tried to apply it yet. */
  readonly state: 'waiting' | 'programmed' | 'failed'
  /** Why it failed; null otherwise. */
  readonly message: string | null
  /** Whether this node has the address now. */
  readonly isOwner: boolean
  /** Since the node programmed the listener; null until they were read. */
  readonly counters: LocalCounters | null
}

export interface LocalMemberReport {
  readonly address: string
  readonly port: number
  readonly health: 'up' | 'down' | 'unknown'
  /** Why it is down; null otherwise. */
  readonly reason: string | null
  /** RFC 3339: when `health` last changed. Empty: it was not checked yet. */
  readonly since: string
}

/** As those of `ServiceStats`. */
export interface LocalCounters {
  readonly bytesIn: number
  readonly bytesOut: number
  readonly activeConnections: number
  readonly totalConnections: number
  readonly requestErrors: number
}

/** How many load balancers a node's settings may name, and how many members each may have. */
export const MOST_LOCAL = 16
export const MOST_LOCAL_MEMBERS = 64
/** The names of load balancers in nodes' settings. */
export const LOCAL_NAME = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/
