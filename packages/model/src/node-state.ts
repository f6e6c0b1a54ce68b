/**
 * NodeState: what the planner gives a node, the intermediate representation of Spout.
 *
 * It is a set of small versioned entries, one per domain and one per load balancer, not one document: a change travels
 * alone. Entries are plain data made by us alone: ids, numbers, canonical addresses; tenant text appears only in
 * HTTP probe fields, which the model restricts to printable ASCII. The same input gives the same bytes (`entryHash`).
 */

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
  readonly segment: { readonly physicalNetwork: string; readonly vlan: number | null }
  readonly returnPath: 'gateway' | 'snat'
  readonly subnets: readonly DomainSubnet[]
  /** Whether this node holds the gateway addresses (return path `gateway`): it owns the VIPs of this domain. */
  readonly holdsGateway: boolean
}

export interface DomainSubnet {
  readonly cidr: string
  /** This node's own address in the subnet. */
  readonly nodeAddress: string
  readonly gatewayIp: string | null
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

export type NodeStateEntry = DomainEntry | LoadBalancerEntry

export interface NodeVip {
  readonly address: string
  readonly scope: 'fabric' | 'tenant'
  /** Whether this node shall announce it. Exactly one node of the group does. */
  readonly announce: boolean
}

/** A listener on every VIP of its load balancer. */
export interface Service {
  /** The listener's id. */
  readonly id: string
  readonly protocol: 'tcp' | 'udp' | 'http' | 'tcp-proxy'
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
  readonly type: 'tcp' | 'http' | 'ping'
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
