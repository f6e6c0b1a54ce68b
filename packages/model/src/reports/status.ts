import type {
  AddressConflictReport,
  BgpSessionReport,
  FlowsReport,
  MemberHealth,
  ProxyDrainReport,
  RequestParts,
  ServiceStats,
  ShardReport,
} from './node-report.ts'

/** The status of a load balancer's newest generation. It is soft state, derived from placements and node reports. */
export interface LoadBalancerStatus {
  /** `pending`: no carrier has confirmed it. `active`: confirmed. `error`: it cannot be programmed, see `reason`. */
  readonly provisioning: 'pending' | 'active' | 'error'
  /** A code (`Programmed`, `WaitingForNode`, `NoNodeAvailable`, `KernelRefused`, `AddressPoolExhausted`). */
  readonly reason: string
  /** A full sentence for the object's user. */
  readonly message: string
  /** Whether members answer. A load balancer can be programmed while none does. */
  readonly serving: Serving
  /** Something that its user should know although it works. Absent: nothing. */
  readonly notice?: StatusNotice
  /** The newest generation that was confirmed; 0 for none. */
  readonly confirmedGeneration: number
  /** When it was confirmed, RFC 3339; null before the first time. */
  readonly confirmedAt: string | null
  /** The node that announces it: the planner's choice, or its shard's master. Null where every node announces. */
  readonly ownerNodeId: string | null
  readonly nodes: readonly NodeConfirmation[]
  /** By member id. Members without an entry are not probed. */
  readonly members: ReadonlyMap<string, MemberHealth>
  /** By listener id, summed over nodes. */
  readonly stats: ReadonlyMap<string, ServiceStats>
}

/** The class or the availability zone of the load balancer is no longer offered to its project. */
export interface StatusNotice {
  readonly reason: 'LoadBalancerClassDisabled' | 'LoadBalancerClassClosed' | 'AvailabilityZoneDisabled'
  /** Full sentences for the object's user. */
  readonly message: string
}

/** How many of the members in use answer, and why not all. */
export interface Serving {
  /**
   * `partly`: members are down, but every pool has one that is up; or a node drops traffic over the network's share.
   * `no`: a listener has no member that is up.
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
  /** Full sentences for the object's user. */
  readonly message: string
  readonly membersUp: number
  readonly members: number
}

/** The status without its parts, cheap however many members there are. */
export type LoadBalancerSummary = Omit<LoadBalancerStatus, 'nodes' | 'members' | 'stats'>

/** One node's report of one load balancer. */
export interface NodeConfirmation {
  readonly nodeId: string
  readonly nodeName: string
  readonly connection: NodeConnection
  readonly state: 'waiting' | 'programmed' | 'failed'
  readonly message: string | null
  readonly announced: readonly string[]
}

/** `disconnected`: it stopped reporting and forwards by its last state. `never`: not seen since enrolment. */
export type NodeConnection = 'connected' | 'disconnected' | 'never'

export interface NodeStatus {
  readonly nodeId: string
  readonly connection: NodeConnection
  readonly inSync: boolean
  /** RFC 3339. */
  readonly lastReportAt: string | null
  /** The version of its agent; null for one that does not report it. */
  readonly version: string | null
  readonly features: readonly string[]
  /** Its shards as last reported; empty for a node without shards. */
  readonly shards: readonly ShardReport[]
  readonly bgpSessions: readonly BgpSessionReport[]
  /** Flow replication; null where there is none, or before a report. */
  readonly flows: FlowsReport | null
  /** How far its proxies' connections are drained after it gave up addresses; null if it did not lately. */
  readonly departure: ProxyDrainReport | null
  /** Addresses of the node that another machine on the wire claims. */
  readonly addressConflicts: readonly AddressConflictReport[]
  /** The address that the agent sees on its fabric interface. */
  readonly fabricAddress: string | null
  /** How many VIPs it announces now. */
  readonly announced: number
  /** Problems that keep it from announcing as its group requires. */
  readonly problems: readonly { readonly code: string; readonly message: string }[]
}

/** The status of a node that has not reported yet. */
export const UNSEEN_NODE: Omit<NodeStatus, 'nodeId' | 'connection'> = {
  inSync: false,
  lastReportAt: null,
  version: null,
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

/** The publication of a DNS name of a load balancer. */
export interface DnsNameStatus {
  readonly name: string
  /**
   * `waiting`: none of the load balancer's public addresses is announced yet, or other names are published first.
   * `failed`: see `reason`; the publication is retried.
   */
  readonly state: 'published' | 'waiting' | 'failed'
  readonly reason:
    | 'Published'
    | 'WaitingForAddress'
    | 'WaitingForTurn'
    | 'NoZone'
    | 'NotOurs'
    | 'NameServer'
    | 'DomainLost'
  /** A full sentence for the object's user. */
  readonly message: string
  /** The addresses that the name has now, as far as we know. */
  readonly addresses: readonly string[]
}

/** Reads the publication of a load balancer's names, in their order. The DNS publisher implements it. */
export interface DnsReader {
  names(loadBalancerId: string): readonly DnsNameStatus[]
}

/** Reads the current status of objects. The status controller implements it, surfaces call it. */
export interface StatusReader {
  loadBalancer(id: string): LoadBalancerStatus
  summary(id: string): LoadBalancerSummary
  /** One node's part of `LoadBalancerStatus.stats`, by listener id. */
  nodeStats(nodeId: string, loadBalancerId: string): ReadonlyMap<string, ServiceStats>
  /** By listener id: requests by pool and by route, summed over nodes. Only listeners that count them are in it. */
  requests(loadBalancerId: string): ReadonlyMap<string, RequestParts>
  /**
   * Counts the announced VIPs, so its cost grows with the number of load balancers. Call it per request, not per
   * change.
   */
  node(id: string): NodeStatus
  /** The features that the node reported. Its cost is constant. */
  features(nodeId: string): readonly string[]
  /** `entryHash` of the entry that the node last confirmed under this key; null if it does not have it. */
  confirmedHash(nodeId: string, key: string): string | null
  /**
   * Calls the listener with the id of each load balancer or node whose status changed. @returns the unsubscribe
   * function
   */
  onChange(listener: (kind: 'loadBalancer' | 'node', id: string) => void): () => void
}
