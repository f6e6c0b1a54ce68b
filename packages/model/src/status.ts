import type {
  AddressConflictReport,
  BgpSessionReport,
  FlowsReport,
  MemberHealth,
  ProxyDrainReport,
  ServiceStats,
  ShardReport,
} from './node-report.ts'

/** What became of a load balancer's newest generation. Soft: worked out from placements and node reports. */
export interface LoadBalancerStatus {
  /** `pending`: not yet confirmed by the node that carries it. `active`: confirmed. `error`: it cannot be, see `reason`. */
  readonly provisioning: 'pending' | 'active' | 'error'
  /** A word for machines (`Programmed`, `WaitingForNode`, `NoNodeAvailable`, `KernelRefused`, `AddressPoolExhausted`). */
  readonly reason: string
  /** For the user of the object; a full sentence. */
  readonly message: string
  /** Whether somebody answers behind it. Nodes may have it programmed while nobody does. */
  readonly serving: Serving
  /** The newest generation confirmed on the carrying node; 0 for none. */
  readonly confirmedGeneration: number
  /** When that confirmation came, RFC 3339; null before the first. */
  readonly confirmedAt: string | null
  /** The node that announces it: the planner's choice, or the master of its shard. Null where every node announces. */
  readonly ownerNodeId: string | null
  readonly nodes: readonly NodeConfirmation[]
  /** By member id. Members without an entry are not probed. */
  readonly members: ReadonlyMap<string, MemberHealth>
  /** By listener id, summed over nodes. */
  readonly stats: ReadonlyMap<string, ServiceStats>
}

/** How many of the members that may take traffic answer, and why not all. */
export interface Serving {
  /**
   * `partly`: some members of a pool are down and every pool has one that is not, or a node drops what is over the share
   * of the network. `no`: a listener leads to nobody.
   */
  readonly state: 'yes' | 'partly' | 'no'
  readonly reason:
    | 'Serving'
    | 'MembersDown'
    | 'OverShare'
    | 'AllMembersDown'
    | 'NoMembers'
    | 'NoPool'
    | 'NoListeners'
    | 'Disabled'
  /** For the user of the object; full sentences. */
  readonly message: string
  readonly membersUp: number
  readonly members: number
}

/** What became of a load balancer, without what it is made of: costs little however many members it has. */
export type LoadBalancerSummary = Omit<LoadBalancerStatus, 'nodes' | 'members' | 'stats'>

/** What one node said of one load balancer. */
export interface NodeConfirmation {
  readonly nodeId: string
  readonly nodeName: string
  readonly connection: NodeConnection
  readonly state: 'waiting' | 'programmed' | 'failed'
  readonly message: string | null
  readonly announced: readonly string[]
}

/** `disconnected`: it stopped reporting; it still forwards what it had. `never`: not seen since enrolment. */
export type NodeConnection = 'connected' | 'disconnected' | 'never'

export interface NodeStatus {
  readonly nodeId: string
  readonly connection: NodeConnection
  readonly inSync: boolean
  /** RFC 3339. */
  readonly lastReportAt: string | null
  readonly features: readonly string[]
  /** As the node told last; empty for a node that takes part in none. */
  readonly shards: readonly ShardReport[]
  readonly bgpSessions: readonly BgpSessionReport[]
  /** How it replicates flows with the others of its group; null where it does not, or has not said. */
  readonly flows: FlowsReport | null
  /** Progress of the proxy drain after the node released its addresses; null when there was none lately. */
  readonly departure: ProxyDrainReport | null
  /** Addresses of the node that somebody else on the wire claims. */
  readonly addressConflicts: readonly AddressConflictReport[]
  /** What the agent sees on its fabric interface. */
  readonly fabricAddress: string | null
  /** How many VIPs it announces now. */
  readonly announced: number
  /** What keeps it from announcing as its group shall. */
  readonly problems: readonly { readonly code: string; readonly message: string }[]
}

/** What is known of a node that said nothing yet. */
export const UNSEEN_NODE: Omit<NodeStatus, 'nodeId' | 'connection'> = {
  inSync: false,
  lastReportAt: null,
  features: [],
  shards: [],
  bgpSessions: [],
  flows: null,
  departure: null,
  addressConflicts: [],
  fabricAddress: null,
  announced: 0,
  problems: [],
}

/** Answers what is known of objects now. Implemented by the status controller, read by every surface. */
export interface StatusReader {
  loadBalancer(id: string): LoadBalancerStatus
  summary(id: string): LoadBalancerSummary
  /** Counts what the node announces, so its price grows with the load balancers: for whoever looks, not for each change. */
  node(id: string): NodeStatus
  /** What the node said it can do; a price that does not grow. */
  features(nodeId: string): readonly string[]
  /** `entryHash` of what the node said last that it follows under this key; null when it does not. */
  confirmedHash(nodeId: string, key: string): string | null
  /** Calls back with the id of each load balancer or node whose status changed its meaning; returns the unsubscribe. */
  onChange(listener: (kind: 'loadBalancer' | 'node', id: string) => void): () => void
}
