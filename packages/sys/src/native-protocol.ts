/** Requests and replies of `spout-helper`. docs/design/0002-native-helper.md describes each op. */

/** `netns` is the path of a bound namespace (`/run/netns/x`); absent for the helper's own. */
export interface InNetns {
  readonly netns?: string
}

export type NftFamily = 'inet' | 'ip' | 'ip6' | 'netdev'

export interface NftTableRef extends InNetns {
  readonly family: NftFamily
  readonly table: string
}

/**
 * Elements to add or delete. `elements` contains packed records in the kernel's register layout: each field of a
 * concatenation padded to 4 bytes; addresses, ports and protocols in network order, marks in host order.
 * A record consists of `keyBytes` of key; with `interval` the same again for the end of the range (inclusive; for sets
 * that are both concatenated and `flags interval`); then `dataBytes` of value; then, with `expr`, a 32-bit host-order
 * limit. To delete an element, its record is only the key (and the end of the range).
 */
export interface NftElements {
  readonly do: 'add' | 'delete'
  readonly set: string
  readonly keyBytes: number
  /** Size of a map's value; absent for sets and for `delete`. */
  readonly dataBytes?: number
  readonly elements: Uint8Array
  readonly interval?: boolean
  /** Adds a `ct count over <limit>` to each element. */
  readonly expr?: 'count-over'
}

/** Empties a set or map. */
export interface NftFlush {
  readonly do: 'flush'
  readonly set: string
}

export type NftChange = NftElements | NftFlush

/** All changes or none, in the order given. */
export interface NftBatch extends NftTableRef {
  /** nft commands that come before the changes, which may name what they make. Only for skeletons, as with `nftText`. */
  readonly text?: string
  readonly changes: readonly NftChange[]
}

export interface NftGet extends NftTableRef {
  readonly set: string
  readonly key: Uint8Array
}

/** Counters of the elements with these keys, packed as in `NftElements`. */
export interface NftCounters extends NftTableRef {
  readonly set: string
  readonly keyBytes: number
  readonly keys: Uint8Array
}

/** Counters of one element since it was added. */
export interface NftCount {
  readonly packets: number
  readonly bytes: number
}

export interface NftText extends InNetns {
  readonly text: string
}

export interface NftGeneration {
  readonly exists: boolean
  /** The table's comment. */
  readonly comment: string | null
}

export interface AddrChange {
  readonly do: 'add' | 'delete'
  readonly dev: string
  readonly address: string
  readonly prefix: number
}

export interface AddrChanges extends InNetns {
  readonly changes: readonly AddrChange[]
}

export interface LinkRef extends InNetns {
  readonly dev: string
}

export interface LinkAddress {
  readonly address: string
  readonly prefix: number
}

export interface RouteChange {
  readonly do: 'replace' | 'delete'
  /** A prefix: `192.0.2.1/32`, `::/0`. */
  readonly to: string
  readonly via?: string | null
  readonly dev?: string | null
  readonly table: number
  readonly type?: 'unicast' | 'local' | 'blackhole'
  /** Distinguishes routes to one prefix. Absent: the kernel's default to replace, the first found to delete. */
  readonly metric?: number
}

export interface RouteChanges extends InNetns {
  readonly changes: readonly RouteChange[]
}

export interface RouteTableRef extends InNetns {
  readonly table: number
}

export interface Route {
  readonly to: string
  readonly via: string | null
  readonly dev: string | null
  readonly type: string
  readonly metric: number
}

export interface Announce extends LinkRef {
  readonly addresses: readonly string[]
  /** Number of rounds; 0 cancels the remaining rounds for these addresses. */
  readonly count: number
  readonly intervalMs: number
}

/** Addresses of an interface that are defended from now on, and those that no longer are. */
export interface Defend extends LinkRef {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Another host on the segment claimed a defended address. */
export interface AddressClaim {
  readonly netns: string | null
  readonly dev: string
  readonly address: string
  /** The link-layer address that neighbours would have learned. */
  readonly mac: string
  /** Claims since the address was last defended; at least 1. */
  readonly claims: number
}

export interface ArpProbe extends LinkRef {
  readonly address: string
  readonly timeoutMs: number
}

export type ArpProbeResult = { readonly answered: true; readonly mac: string } | { readonly answered: false }

export interface Connect extends InNetns {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
  /** Data that is sent once connected; then the answer is read. Absent: only connects. */
  readonly send?: Uint8Array
  /** Reading ends after this many bytes; at most 65536, default 4096. */
  readonly maxBytes?: number
  /** Local address to connect from. */
  readonly source?: string
  /** Starts TLS 1.2 or later first; data is sent and read through it. Any certificate is accepted. */
  readonly tls?: {
    /** The server name (RFC 6066 section 3), which is never an address. Absent: no server name is sent. */
    readonly serverName?: string
  }
}

export type ConnectResult =
  | {
      readonly connected: true
      readonly received: Uint8Array
      /** Why reading ended; `none` if nothing was read, `tls` if TLS failed. */
      readonly end: 'none' | 'full' | 'closed' | 'reset' | 'timeout' | 'tls'
      /** Present exactly with `tls`. */
      readonly tls?: TlsFailure
      readonly durationMs: number
    }
  | {
      readonly connected: false
      /** For people: `connection refused`, `timed out`, `no route to host`. */
      readonly reason: string
      readonly durationMs: number
    }

export interface TlsFailure {
  /** OpenSSL's text, never the peer's: `wrong version number`. */
  readonly reason: string
  /** Number of the peer's alert (RFC 8446 section 6); null if it sent none. */
  readonly alert: number | null
}

export interface Ping extends InNetns {
  readonly address: string
  readonly timeoutMs: number
}

export type PingResult =
  | { readonly answered: true; readonly durationMs: number }
  | { readonly answered: false; readonly reason: string }

export interface Udp extends InNetns {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
}

/** `timed out` if nothing came back; otherwise the ICMP error. */
export type UdpResult =
  | { readonly answered: true; readonly durationMs: number }
  | { readonly answered: false; readonly reason: string; readonly durationMs: number }

export interface Sctp extends InNetns {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
}

export type SctpResult =
  | { readonly accepted: true; readonly durationMs: number }
  | {
      readonly accepted: false
      /** For people: `aborted`, `wrong checksum`, `malformed answer`, `timed out`, or the ICMP error. */
      readonly reason: string
      /** With `aborted`: the first cause in the ABORT (RFC 9260 section 3.3.10), null if it has none. */
      readonly cause: number | null
      readonly durationMs: number
    }

/**
 * For each request the kernel walks over the flows of all namespaces at least once, so services that lose flows at the
 * same time belong in one request.
 */
export interface ConntrackDelete extends InNetns {
  readonly services: readonly ServiceFlows[]
}

/** Flows to a service, all of them or some. */
export interface ServiceFlows {
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  /** The destination of clients: the VIP. */
  readonly destination: string
  readonly port: number
  /** Only flows whose other end is one of these endpoints; absent: all. */
  readonly members?: readonly FlowEnd[]
  /** Only TCP flows that cannot carry data: not established yet, or closed. Default false. */
  readonly unestablished?: boolean
}

export interface FlowEnd {
  readonly address: string
  readonly port: number
}

/** The traffic of an interface since it was created. */
export interface Traffic {
  readonly packetsIn: number
  readonly bytesIn: number
  readonly packetsOut: number
  readonly bytesOut: number
}

/** The connection table of one namespace. */
export interface ConntrackCount {
  readonly flows: number
  /** Sysctl `net.netfilter.nf_conntrack_max`, which applies to each namespace separately; 0 is no limit. */
  readonly most: number
}

export interface TimeSlice {
  readonly pid: number
  /** Microseconds, from 100 to 100,000. */
  readonly us: number
}

export interface HelperStats {
  readonly requests: number
  readonly netlinkMessages: number
  /** Transactions that changed nftables. */
  readonly transactions: number
  readonly probesInFlight: number
}

/** A change of an `addr` or `route` request that the kernel refused. */
export interface RefusedChange {
  readonly index: number
  readonly errno: string
}

/** The helper's reply to a request that failed. */
export class HelperError extends Error {
  override readonly name = 'HelperError'
  /** The kernel's error code (`EEXIST`); null if the request itself was invalid. */
  readonly errno: string | null
  /** Index of the refused change (the first) in `changes`, if the kernel tells it. */
  readonly index: number | null
  /** Index of the record in that change's `elements`. */
  readonly element: number | null
  /** All refused changes of an `addr` or `route` request; the others were applied. */
  readonly refused: readonly RefusedChange[]

  constructor(
    message: string,
    details: {
      readonly errno?: string
      readonly index?: number
      readonly element?: number
      readonly refused?: readonly RefusedChange[]
    } = {},
  ) {
    super(message)
    this.errno = details.errno ?? null
    this.index = details.index ?? null
    this.element = details.element ?? null
    this.refused = details.refused ?? []
  }
}

/**
 * The helper died or is not running. The request may or may not have been executed, so the caller must compare its
 * whole state.
 */
export class HelperLost extends Error {
  override readonly name = 'HelperLost'
}
