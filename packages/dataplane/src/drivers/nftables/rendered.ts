import type { Transport } from '@spout/model/protocols'
import type { PackedRecords } from './packed-records.ts'

/** A balanced listener, as its counters are looked up. */
export interface RenderedService {
  readonly listenerId: string
  readonly transport: Transport
  readonly port: number
}

/**
 * `translating`: return paths `gateway`, `snat` and `node`. `proxying`: replaces it if nothing is tracked. `forwarding`:
 * return path `dsr`. `tunnelling`: the same in networks with members behind routers. `spreading`: beside `translating`,
 * with return path `node`.
 */
export type TableKind = 'translating' | 'proxying' | 'forwarding' | 'tunnelling' | 'spreading'

/** One load balancer as elements of its domain's table. Compact, since it is kept for later differences. */
export interface Rendered {
  readonly key: string
  readonly loadBalancerId: string
  readonly domain: number
  /** The table of its domain that it is in. */
  readonly table: TableKind
  /** In the order of the `opened` records; without proxied listeners. */
  readonly services: readonly RenderedService[]
  /** Addresses of members that are reached through a tunnel. */
  readonly remotes: readonly string[]
  readonly records: PackedRecords
  /** Where its packets are led to the nodes of its members. Null with other return paths, and if there is nowhere to. */
  readonly spread: Spread | null
  /** 128 bits over key and records. Equal digests mean equal elements. */
  readonly digest: bigint
}

/** The key of a domain's nodes among its entries. No entry has it. */
export const HOSTS_KEY = 'hosts'

/** The part of an entry that is in table `spreading`, and the nodes of its domain, which all entries share. */
export interface Spread {
  readonly entry: Rendered
  readonly hosts: Rendered
  /** This node's number. */
  readonly own: number
  /** Nodes whose members of a pool, which is named by its mark, are all down. */
  readonly silent: readonly SilentNode[]
}

export interface SilentNode {
  readonly version: 4 | 6
  readonly mark: number
  readonly host: number
}
