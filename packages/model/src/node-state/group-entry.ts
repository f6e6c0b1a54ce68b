import type { AnnouncerParts } from '../announcers/registry.ts'
import type { FabricChoice } from '../nodes/fabric-choice.ts'
import { GROUP_KEY } from './entry-keys.ts'
import { NODE_STATE_VERSION } from './version.ts'

/**
 * The node's part in its group: one entry per node, with key `group`. Its size does not depend on the number of
 * tenants. An announcer whose field is null or absent is switched off.
 */
export interface GroupEntry extends AnnouncerParts {
  readonly kind: 'group'
  readonly version: typeof NODE_STATE_VERSION
  readonly key: 'group'
  readonly flows: FlowSettings | null
  /** The interface that the group names. Absent: as the agent's own settings say. */
  readonly fabric?: FabricChoice
  /** What happens to the proxies' connections after a planned move. Absent: there was no recent move. */
  readonly secondChance?: SecondChance
  /** Silent nodes of the group. This node probes them on the fabric and reports `sights`. Absent: none. */
  readonly watch?: readonly WatchedNode[]
}

/**
 * Feature of a node that works on the fabric interface that its group names. A node without it has no such interface,
 * or its agent is older.
 */
export const FABRIC_OF_GROUP = 'fabric-of-group'

/** Every announcer is switched off. */
export const NO_GROUP_PART: GroupEntry = {
  kind: 'group',
  version: NODE_STATE_VERSION,
  key: GROUP_KEY,
  vrrp: null,
  bgp: null,
  flows: null,
}

export interface WatchedNode {
  readonly nodeId: string
  /**
   * The node counts as seen if one of these answers: the VIPs that it last announced, or its own address without any.
   */
  readonly addresses: readonly string[]
}

/** Limit of one `GroupEntry.watch`. */
export const MOST_WATCHED = 256

/**
 * After a planned move, the proxies' established connections stay on the node that gave up the addresses. For a limited
 * time the other nodes forward to it the packets of connections that they do not know.
 */
export interface SecondChance {
  /** Fabric address of the node to which this node forwards a client's packet of an unknown connection. Null: none. */
  readonly first: string | null
  /**
   * Where this node forwards a packet that another node forwarded to it, if it does not know the connection either.
   * Null: nowhere.
   */
  readonly next: string | null
  /** Ids of these two nodes, to look up `DomainEntry.nodeAddresses`. Absent where the address is null. */
  readonly firstNode?: string
  readonly nextNode?: string
  /**
   * When this node began to give up its addresses. From then on its proxies drain their clients. Null: not recently.
   */
  readonly leavingSince: string | null
  /**
   * Shards that this node hands over while it stays in service, and when that was requested. Once another node has a
   * shard, the proxies of its tenant networks drain their clients. Absent: none recently.
   */
  readonly handedOver?: { readonly shards: readonly number[]; readonly since: string }
  /**
   * When the newest of these moves was requested, which identifies it. All times are RFC 3339, by the control plane's
   * clock.
   */
  readonly since: string
  /** How long connections are kept, counted from when the node learns of the move. */
  readonly seconds: number
}

/** Limit of how often a packet that belongs to no connection is forwarded. */
export const MOST_HOPS = 8

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
