/** Requests and replies of `spout-helper`; docs/design/0002-native-helper.md says what each op does. */

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
 * Elements to add or delete. `elements` is packed records in the kernel's register layout: each field of a concatenation
 * padded to 4 bytes; addresses, ports and protocols in network order, marks in host order.
 * A record is `keyBytes` of key; with `interval` as many again for the end of the range (inclusive; for sets that are
 * both concatenated and `flags interval`); then `dataBytes` of value; then, with `expr`, a 32-bit host-order limit.
 * Deleting wants the key (and the end of the range) alone, not the value.
 */
export interface NftElements {
  readonly do: 'add' | 'delete'
  readonly set: string
  readonly keyBytes: number
  /** Size of a map's value; absent for sets and for `delete`. */
  readonly dataBytes?: number
  readonly elements: Uint8Array
  readonly interval?: boolean
  /** Gives each element a `ct count over <limit>` of its own. */
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

/** What one element has counted since it was added. */
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
  /** Routes to one prefix are told apart by it. Absent: the kernel's default to replace, the first found to delete. */
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
  /** Rounds to send; 0 stops the rounds still to come for these addresses. */
  readonly count: number
  readonly intervalMs: number
}

/** Addresses of an interface that are defended from now on, and those that no longer are. */
export interface Defend extends LinkRef {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Somebody else on the segment said that a defended address is his. */
export interface AddressClaim {
  readonly netns: string | null
  readonly dev: string
  readonly address: string
  /** The link-layer address that neighbours would have learnt. */
  readonly mac: string
  /** How often since the address was last defended; at least 1. */
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
  /** Written once connected; then the answer is read. Absent: connecting is all. */
  readonly send?: Uint8Array
  /** Reading ends after this many bytes; at most 65536, default 4096. */
  readonly maxBytes?: number
  /** Local address to connect from. */
  readonly source?: string
  /** Speaks TLS 1.2 or later first; what is sent and read goes through it. Any certificate will do. */
  readonly tls?: {
    /** Sent as the server's name (RFC 6066 section 3), which is never an address. Absent: none is. */
    readonly serverName?: string
  }
}

export type ConnectResult =
  | {
      readonly connected: true
      readonly received: Uint8Array
      /** Why reading ended; `none` when nothing was to be read, `tls` when TLS failed. */
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
  /** In OpenSSL's words, never the other side's: `wrong version number`. */
  readonly reason: string
  /** Number of the alert (RFC 8446 section 6) that the other side sent; null when it sent none. */
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

/** `reason` of silence is `timed out`; anything else is the ICMP error that came back. */
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
      /** For people: `aborted`, `wrong checksum`, `malformed answer`, `timed out`, or the ICMP error that came back. */
      readonly reason: string
      /** With `aborted`: the first cause that the ABORT names (RFC 9260 section 3.3.10), null when it names none. */
      readonly cause: number | null
      readonly durationMs: number
    }

/**
 * For a request the kernel walks over the flows of all namespaces at least once: services that lose flows at the same time
 * belong into one.
 */
export interface ConntrackDelete extends InNetns {
  readonly services: readonly ServiceFlows[]
}

/** Flows to a service, all of them or some. */
export interface ServiceFlows {
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  /** What clients send to: the VIP. */
  readonly destination: string
  readonly port: number
  /** Only flows with these endpoints at their other end; left out, all of them. */
  readonly members?: readonly FlowEnd[]
  /** Only TCP flows over which nothing can pass: not open yet, or closed already. Default false. */
  readonly unestablished?: boolean
}

export interface FlowEnd {
  readonly address: string
  readonly port: number
}

/** What passed an interface since it was made. */
export interface Traffic {
  readonly packetsIn: number
  readonly bytesIn: number
  readonly packetsOut: number
  readonly bytesOut: number
}

/** The kernel's connection table of one namespace. */
export interface ConntrackCount {
  readonly flows: number
  /** Sysctl `net.netfilter.nf_conntrack_max`, which counts each namespace for itself; 0 is no bound. */
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

/** One change of an `addr` or `route` request that the kernel refused. */
export interface RefusedChange {
  readonly index: number
  readonly errno: string
}

/** The helper's answer to a request that could not be done. */
export class HelperError extends Error {
  override readonly name = 'HelperError'
  /** The kernel's code (`EEXIST`), null when the request itself was wrong. */
  readonly errno: string | null
  /** Which of `changes` was refused (the first), when the kernel says so. */
  readonly index: number | null
  /** Which record of that change's `elements`. */
  readonly element: number | null
  /** Every refused change of an `addr` or `route` request; the others were done. */
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

/** The helper died or is not running: what was asked may or may not have been done. Compare the whole state. */
export class HelperLost extends Error {
  override readonly name = 'HelperLost'
}
