// Requests and replies of `spout-helper` about nftables.
// docs/design/0002-native-helper.md describes each op.

import type { InNetns } from './in-netns.ts'

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
