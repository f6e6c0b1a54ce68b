import type { Announce } from '../announcers/registry.ts'
import type { NODE_STATE_VERSION } from './version.ts'

/** A tenant network on one node. */
export interface DomainEntry {
  readonly kind: 'domain'
  readonly version: typeof NODE_STATE_VERSION
  /** `domain/<number>`. */
  readonly key: string
  readonly number: number
  readonly networkId: string
  /**
   * The project that owns the network. A project's share of the node covers all of its networks together. Absent in
   * entries of earlier control planes.
   */
  readonly projectId?: string
  readonly segment: { readonly physicalNetwork: string; readonly vlan: number | null }
  readonly returnPath: 'gateway' | 'snat' | 'dsr' | 'node'
  readonly subnets: readonly DomainSubnet[]
  /**
   * How this node announces the addresses that the nodes share: gateways, or the source addresses that members see.
   * Null: another node announces them.
   */
  readonly gateway: Announce | null
  /** With return path `dsr`: how members behind routers are reached. Absent if all are on the segment. */
  readonly tunnel?: DomainTunnel
  /** With return path `node`: which node hosts which members. Absent with the others. */
  readonly hosts?: DomainHosts
  /** Routes to members behind routers of the segment; `via` is in one of `subnets`. Absent if there are none. */
  readonly routes?: readonly DomainRoute[]
  /**
   * By node id: the own addresses in `subnets` of each node that carries the network. A second chance uses them to
   * reach a node over the segment. Present only where it needs them: a VIP of the network itself leads to a proxy, or
   * members' replies move to another node with the shard, and requests only later.
   */
  readonly nodeAddresses?: Readonly<Record<string, readonly string[]>>
  /**
   * Set if every listener of the network is proxied and has neither a connection limit nor an allow list. Then nothing
   * is translated, and the kernel need not track connections. Absent: it tracks them.
   */
  readonly untracked?: true
}

/**
 * The nodes that host a network's members, and answer for them. A node sends a packet for a member of another one to
 * that node, unchanged, through VXLAN (RFC 7348) between the nodes' fabric addresses.
 */
export interface DomainHosts {
  /** 1 to 2^24-1, the same on every node. */
  readonly vni: number
  /** This node's number among them. */
  readonly own: number
  /** This node's address on the fabric. Null while it is unknown: then this node serves only its own members. */
  readonly address: string | null
  /** The other nodes, with addresses of the same family. Numbers are multiples of 16 below 2^28, and a node keeps its own. */
  readonly peers: readonly { readonly number: number; readonly address: string }[]
  /** Where members are, by the numbers of nodes. What no prefix contains, or is on no node here, cannot be reached. */
  readonly prefixes: readonly { readonly to: string; readonly host: number }[]
}

export interface DomainRoute {
  readonly to: string
  readonly via: string
}

/**
 * VXLAN (RFC 7348) from each node to the address of each member behind a router. Members send nothing back through it.
 */
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
   * With return path `snat`: the source address that members see instead of `nodeAddress`. The nodes of a group share
   * it: the master of the network's shard has it. Null if each node uses its own address, and with other return paths.
   * Nodes that reach the segment through themselves use their own.
   */
  readonly sharedAddress: string | null
}
